import type { VirtualMesh } from "@isthmus/api";
import { type Finding, warningFinding } from "../../../findings.ts";
import { failoverInForce } from "../../../policy/virtualMeshFailover.ts";
import { detectionFindings } from "../virtualDestination/outliers.ts";

const PATH = "spec.federation.failover";

/** What is to be said of the failover of a VirtualMesh by itself. Nothing of it is a reason to take the meshes apart. */
export function failoverFindings(virtualMesh: VirtualMesh): readonly Finding[] {
  const { failover } = virtualMesh.spec?.federation ?? {};
  if (failover === undefined) return [];
  const values = detectionFindings(`${PATH}.outlierDetection`, failover.outlierDetection);
  return [
    ...(failoverInForce(virtualMesh) === undefined ? [notTrusted] : []),
    ...values.map((finding): Finding => ({ ...finding, state: "WARNING" })),
  ];
}

const notTrusted = warningFinding(
  "FailoverUnavailable",
  `${PATH}: no service fails over, because nothing says that the meshes share a root, without which clients refuse the pods of other clusters: set spec.mtlsConfig.shared`,
);
