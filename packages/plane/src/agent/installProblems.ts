import type { ClusterError } from "@isthmus/ports";
import type { Order } from "./trust/certificateOrders.ts";

/**
 * Why the roots of a mesh with pods in ambient mode are not changed; undefined where it has none. A change of the root has proxies trust both for a time, and a ztunnel may
 * trust a single one.
 */
export function ambientProblem({ metadata: { clusterName = "" } }: Order, nodeProxies: readonly string[]): string | undefined {
  const [first] = nodeProxies;
  if (first === undefined) return undefined;
  return (
    `ztunnel runs in ${clusterName} (pod ${first}), and may trust one root at a time: calls of pods in ambient mode would fail while the root is changed, so nothing is changed: ` +
    "remove the mesh from spec.meshes of the VirtualMesh, or remove spec.mtlsConfig.shared there"
  );
}

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
