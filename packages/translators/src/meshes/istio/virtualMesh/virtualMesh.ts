import { refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../../../findings.ts";
import { meshCluster } from "../../../policy/policyScope.ts";
import { failoverInForce } from "../../../policy/virtualMeshFailover.ts";
import { heldFindings } from "../../heldFindings.ts";
import { emptyTranslation, type MeshInputs, mergeTranslations, type TargetTranslation } from "../../inputs.ts";
import { agentClusterOf } from "../accessLogs/agentCluster.ts";
import { eastWestGatewaysOf } from "./eastWestGateways.ts";
import { globalAccessOf } from "./globalAccess.ts";
import { certificatesOf } from "./mtls.ts";

/** What its VirtualMesh, or the mesh itself, wants of one Istio mesh. Each part stands alone: a fault in one leaves the others in force. */
export function translateIstioMesh(inputs: MeshInputs): TargetTranslation {
  return mergeTranslations([
    trustDomainOf(inputs),
    heldOf(inputs),
    leftOutOf(inputs),
    certificatesOf(inputs),
    eastWestGatewaysOf(inputs),
    globalAccessOf(inputs),
    agentClusterOf(inputs),
  ]);
}

/** Anyone who relies on a mesh gets a warning that its trust domain is not what its configuration says. */
function trustDomainOf({ mesh, virtualMesh }: MeshInputs): TargetTranslation {
  const { trustDomainProblem = "" } = mesh.spec?.istio ?? {};
  if (virtualMesh === undefined || trustDomainProblem === "") return emptyTranslation;
  return { outputs: [], reports: [reportOf(refOf(virtualMesh), warningFinding("TrustDomainKept", trustDomainProblem), refOf(mesh))] };
}

/** Anyone who relies on a mesh gets a warning that its control plane, or its Cilium, is gone. */
function heldOf({ mesh, virtualMesh }: MeshInputs): TargetTranslation {
  const findings = virtualMesh === undefined ? [] : heldFindings(mesh);
  if (virtualMesh === undefined || findings.length === 0) return emptyTranslation;
  return { outputs: [], reports: findings.map((one) => reportOf(refOf(virtualMesh), one, refOf(mesh))) };
}

/** Services of other meshes fail over to it no more. */
function leftOutOf({ mesh, virtualMesh, isOffline }: MeshInputs): TargetTranslation {
  if (virtualMesh === undefined || !isOffline || failoverInForce(virtualMesh) === undefined) return emptyTranslation;
  const message = `spec.federation.failover: services of other clusters do not fail over to ${meshCluster(mesh)} while they have something else to call, because its agent has been offline for longer than failover.excludeOffline of the Settings says: check the agent`;
  return { outputs: [], reports: [reportOf(refOf(virtualMesh), warningFinding("OfflineExcluded", message), refOf(mesh))] };
}
