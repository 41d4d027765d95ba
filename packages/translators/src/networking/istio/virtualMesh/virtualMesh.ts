import { combined, type MeshInputs, type TargetTranslation } from "../../../inputs.ts";
import { eastWestGatewaysOf } from "./eastWestGateways.ts";
import { globalAccessOf } from "./globalAccess.ts";
import { certificatesOf } from "./mtls.ts";

/** What its VirtualMesh wants of one Istio mesh. Each part stands alone: a fault in one leaves the others in force. */
export function translateIstioMesh(inputs: MeshInputs): TargetTranslation {
  return combined([certificatesOf(inputs), eastWestGatewaysOf(inputs), globalAccessOf(inputs)]);
}
