import { Namespace } from "@isthmus/api";
import type { Clock, Log } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";

/** The UID of the namespace kube-system, which tells a cluster from others of its name; waits for the API server. */
export async function clusterUid(
  cluster: Cluster,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<string> {
  for (;;) {
    try {
      const uid = (await cluster.get(Namespace, { name: "kube-system", namespace: "" }, signal))?.metadata.uid;
      if (uid !== undefined) return uid;
      log.warn({}, "namespace kube-system does not exist yet; retrying");
    } catch (error) {
      if (!(error instanceof ClusterError) || error.code !== "Unavailable") throw error;
      log.warn({}, `the API server does not answer: ${error.message}; retrying`);
    }
    await clock.sleep(RETRY_MS, signal);
  }
}

const RETRY_MS = 2_000;
