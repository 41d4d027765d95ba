import { type DestinationInputs, type MeshInputs, nothing, type TargetTranslation, type VirtualMeshInputs } from "../inputs.ts";
import { translateIstioDestination } from "./istio/istio.ts";
import { rootSecretOf } from "./istio/virtualMesh/rootSecret.ts";
import { translateIstioMesh } from "./istio/virtualMesh/virtualMesh.ts";
import { translateOsmDestination } from "./osm/osm.ts";

/** Whatever networking makes something of: one record of inputs each. */
export type TargetInputs = DestinationInputs | MeshInputs | VirtualMeshInputs;

/** What networking makes of one target. A new mesh is a line here. */
export function translateTarget(inputs: TargetInputs): TargetTranslation {
  if ("destination" in inputs) {
    if (inputs.mesh.spec?.istio !== undefined) return translateIstioDestination(inputs);
    if (inputs.mesh.spec?.osm !== undefined) return translateOsmDestination(inputs);
    return nothing;
  }
  if ("mesh" in inputs) return inputs.mesh.spec?.istio === undefined ? nothing : translateIstioMesh(inputs);
  return rootSecretOf(inputs);
}
