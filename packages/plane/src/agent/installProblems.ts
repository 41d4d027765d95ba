import type { ClusterError } from "../ports/clusterPort.ts";
import type { Order } from "./certificateOrders.ts";

/** Why the CA of a mesh cannot be installed in its cluster, and what helps: for users. */
export function problemOfCluster({ spec, metadata: { clusterName = "" } }: Order, error: ClusterError): string {
  const namespace = spec?.issuedCertificateSecret?.namespace ?? "";
  if (error.code === "NotFound") {
    return (
      `Secret ${namespace}/cacerts cannot be written in ${clusterName}: ${error.message}: install istiod in namespace ${namespace} again, ` +
      "or remove the mesh from spec.meshes of the VirtualMesh"
    );
  }
  if (error.code !== "Forbidden")
    return `the CA of the mesh cannot be installed in Secret ${namespace}/cacerts of ${clusterName}: ${error.message}`;
  return (
    `the agent of ${clusterName} may not do what the CA of the mesh in namespace ${namespace} needs: ${error.message}: add ${namespace} to ` +
    "the value meshCertificates.namespaces of its chart, or grant it the roles of docs/reference/rbac.md"
  );
}
