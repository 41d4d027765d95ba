import { formatRef, refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../findings.ts";
import { effectiveAccessPolicies } from "../meshes/enforcedAccess.ts";
import {
  type DestinationInputs,
  emptyTranslation,
  type MeshInputs,
  mergeTranslations,
  type TargetTranslation,
  type VirtualMeshInputs,
} from "../meshes/inputs.ts";
import { meshTranslators, translatorOf } from "../meshes/meshTranslators.ts";

/** Whatever networking makes something of: one record of inputs each. */
export type TargetInputs = DestinationInputs | MeshInputs | VirtualMeshInputs;

/** Of a mesh that is discovered and not configured: whoever wrote a policy for it must not take it for enforced. */
function notWritten({
  destination,
  mesh,
  trafficPolicies,
  accessPolicies,
  heldAccess,
  surroundings,
}: DestinationInputs): TargetTranslation {
  const what = mesh.spec?.awsAppMesh === undefined ? "a mesh" : "an AWS App Mesh";
  const [target, where] = [refOf(destination), formatRef(refOf(mesh))];
  const message = `${formatRef(target)} is in ${where}, ${what}, which is not configured, so this policy has no effect there: narrow the destinationSelector`;
  const reports = [...trafficPolicies, ...effectiveAccessPolicies({ accessPolicies, heldAccess }, surroundings.ages)].map((policy) =>
    reportOf(refOf(policy), warningFinding("MeshNotWritten", message), target),
  );
  return { outputs: [], reports };
}

/** What networking makes of one target. */
export function translateTarget(inputs: TargetInputs): TargetTranslation {
  if ("destination" in inputs) {
    const translator = translatorOf(inputs.mesh);
    return translator === undefined ? notWritten(inputs) : translator.translateDestination(inputs);
  }
  if ("mesh" in inputs) return translatorOf(inputs.mesh)?.translateMesh?.(inputs) ?? emptyTranslation;
  return mergeTranslations(meshTranslators.map((translator) => translator.translateVirtualMesh?.(inputs) ?? emptyTranslation));
}
