import { formatRef, refOf } from "@isthmus/core";
import { reported, warning } from "../findings.ts";
import { type DestinationInputs, type MeshInputs, nothing, type TargetTranslation, type VirtualMeshInputs } from "../inputs.ts";
import { bearingPolicies } from "./accessForms.ts";
import { translateIstioDestination } from "./istio/istio.ts";
import { rootSecretOf } from "./istio/virtualMesh/rootSecret.ts";
import { translateIstioMesh } from "./istio/virtualMesh/virtualMesh.ts";
import { translateOsmDestination } from "./osm/osm.ts";

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
  const message = `${formatRef(target)} is in ${where}, ${what}, which is not configured: this policy has no effect there: narrow the destinationSelector`;
  const reports = [...trafficPolicies, ...bearingPolicies({ accessPolicies, heldAccess }, surroundings.ages)].map((policy) =>
    reported(refOf(policy), warning("MeshNotWritten", message), target),
  );
  return { outputs: [], reports };
}

/** What networking makes of one target. A new mesh is a line here. */
export function translateTarget(inputs: TargetInputs): TargetTranslation {
  if ("destination" in inputs) {
    if (inputs.mesh.spec?.istio !== undefined) return translateIstioDestination(inputs);
    if (inputs.mesh.spec?.osm !== undefined) return translateOsmDestination(inputs);
    return notWritten(inputs);
  }
  if ("mesh" in inputs) return inputs.mesh.spec?.istio === undefined ? nothing : translateIstioMesh(inputs);
  return rootSecretOf(inputs);
}
