import { type DestinationInputs, emptyTranslation, mergeTranslations, type TargetTranslation } from "../inputs.ts";
import { trafficSplitFor } from "./trafficSplits.ts";
import { trafficTargetsFor } from "./trafficTargets.ts";

/**
 * Everything that a Destination of an Open Service Mesh needs, in the words of the Service Mesh Interface. VirtualMesh settings
 * have no effect on these meshes.
 */
export function translateOsmDestination(inputs: DestinationInputs): TargetTranslation {
  if (inputs.destination.spec?.kubeService?.ref === undefined) return emptyTranslation;
  return mergeTranslations([trafficSplitFor(inputs), trafficTargetsFor(inputs)]);
}
