import { refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../../../findings.ts";
import { emptyTranslation, type MeshInputs, mergeTranslations, type TargetTranslation } from "../../inputs.ts";
import { agentClusterOf } from "../accessLogs/agentCluster.ts";
import { eastWestGatewaysOf } from "./eastWestGateways.ts";
import { globalAccessOf } from "./globalAccess.ts";
import { certificatesOf } from "./mtls.ts";

/** What its VirtualMesh, or the mesh itself, wants of one Istio mesh. Each part stands alone: a fault in one leaves the others in force. */
export function translateIstioMesh(inputs: MeshInputs): TargetTranslation {
  return mergeTranslations([
    trustDomainOf(inputs),
    certificatesOf(inputs),
    eastWestGatewaysOf(inputs),
    globalAccessOf(inputs),
    agentClusterOf(inputs),
  ]);
}

/** Whoever relies on a mesh is told that its trust domain is not what its configuration says. */
function trustDomainOf({ mesh, virtualMesh }: MeshInputs): TargetTranslation {
  const { trustDomainProblem = "" } = mesh.spec?.istio ?? {};
  if (virtualMesh === undefined || trustDomainProblem === "") return emptyTranslation;
  return { outputs: [], reports: [reportOf(refOf(virtualMesh), warningFinding("TrustDomainKept", trustDomainProblem), refOf(mesh))] };
}
