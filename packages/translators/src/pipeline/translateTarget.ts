import type { Mesh } from "@isthmus/api";
import { formatRef, refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../findings.ts";
import { effectiveAccessPolicies } from "../meshes/enforcedAccess.ts";
import {
  type DestinationInputs,
  emptyTranslation,
  type MeshInputs,
  mergeTranslations,
  type TargetTranslation,
  type VirtualDestinationInputs,
  type VirtualMeshInputs,
} from "../meshes/inputs.ts";
import { meshTranslators, translatorOf } from "../meshes/meshTranslators.ts";

/** Whatever networking makes something of: one record of inputs each. */
export type TargetInputs = DestinationInputs | MeshInputs | VirtualMeshInputs | VirtualDestinationInputs;

/** Of a mesh that is discovered and not configured: whoever wrote a policy for it must not take it for enforced. */
function notWritten({
  destination,
  mesh,
  trafficPolicies,
  accessPolicies,
  heldAccess,
  surroundings,
}: DestinationInputs): TargetTranslation {
  const what = typeIn(mesh);
  const [target, where] = [refOf(destination), formatRef(refOf(mesh))];
  const message = `${formatRef(target)} is in ${where}, ${what}, which is not configured, so this policy has no effect there: narrow the destinationSelector`;
  const reports = [...trafficPolicies, ...effectiveAccessPolicies({ accessPolicies, heldAccess }, surroundings.ages)].map((policy) =>
    reportOf(refOf(policy), warningFinding("MeshNotWritten", message), target),
  );
  return { outputs: [], reports };
}

/** Of a mesh that no VirtualMesh can join to others: whoever wrote one must not take it for joined. */
function notJoined({ mesh, virtualMesh }: MeshInputs): TargetTranslation {
  const fields = (["mtlsConfig", "federation", "globalAccessPolicy"] as const).filter((field) => virtualMesh?.spec?.[field] !== undefined);
  if (virtualMesh === undefined || fields.length === 0) return emptyTranslation;
  const paths = fields.map((field) => `spec.${field}`).join(", ");
  const target = refOf(mesh);
  const message = `${paths}: no effect on ${formatRef(target)}, ${typeIn(mesh)}, because only Istio meshes can be joined: remove it from spec.meshes`;
  return { outputs: [], reports: [reportOf(refOf(virtualMesh), warningFinding("MeshNotWritten", message), target)] };
}

/** What was found when it was decided what is in force comes first. */
function virtualDestinationTranslation(inputs: VirtualDestinationInputs): TargetTranslation {
  const made = meshTranslators.map((translator) => translator.translateVirtualDestination?.(inputs) ?? emptyTranslation);
  return mergeTranslations([{ outputs: [], reports: inputs.reports }, ...made]);
}

function typeIn({ spec }: Mesh): string {
  return spec?.awsAppMesh !== undefined ? "an AWS App Mesh" : spec?.osm !== undefined ? "an Open Service Mesh" : "a mesh of another type";
}

/** What networking makes of one target. */
export function translateTarget(inputs: TargetInputs): TargetTranslation {
  if ("destination" in inputs) {
    const translator = translatorOf(inputs.mesh);
    return translator === undefined ? notWritten(inputs) : translator.translateDestination(inputs);
  }
  if ("virtualDestination" in inputs) return virtualDestinationTranslation(inputs);
  if ("mesh" in inputs) return translatorOf(inputs.mesh)?.translateMesh?.(inputs) ?? notJoined(inputs);
  return mergeTranslations(meshTranslators.map((translator) => translator.translateVirtualMesh?.(inputs) ?? emptyTranslation));
}
