import { KubernetesCluster } from "@isthmus/api";
import { type Cluster, ClusterError } from "../ports.ts";

/** Which cluster has which name: KubernetesCluster objects record the UID of the cluster that registered under their name. */
export interface ClusterRegistrations {
  /** The UID recorded for a name: undefined when there is no such cluster, "" when none has registered yet. */
  uidOf(clusterName: string): Promise<string | undefined>;
  /** Records a name and its UID; creates the KubernetesCluster when absent. Rejects with ClusterError `Conflict` when another UID is recorded. */
  register(clusterName: string, uid: string): Promise<void>;
}

export function clusterRegistrations(cluster: Cluster, { namespace }: { readonly namespace: string }): ClusterRegistrations {
  async function uidOf(clusterName: string): Promise<string | undefined> {
    const found = await cluster.get(KubernetesCluster, { name: clusterName, namespace });
    return found === undefined ? undefined : (found.status?.clusterUid ?? "");
  }
  return {
    uidOf,
    async register(clusterName, uid) {
      const { apiVersion, kind } = KubernetesCluster;
      const metadata = { name: clusterName, namespace };
      if ((await uidOf(clusterName)) === undefined) {
        try {
          await cluster.create({ apiVersion, kind, metadata, spec: {} } as KubernetesCluster);
        } catch (error) {
          // Registered through another replica, or by a user, a moment ago.
          if (!(error instanceof ClusterError && error.code === "AlreadyExists")) throw error;
        }
      }
      // Without force: where another cluster was faster, its UID stands and this one is refused.
      await cluster.applyStatus(
        { apiVersion, kind, metadata, status: { clusterUid: uid } },
        { fieldManager: `gloo-mesh-registration-${uid}` },
      );
    },
  };
}
