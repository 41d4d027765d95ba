import { type Connection, type ConnectionOptions, connectionTo } from "./connection.ts";
import { exchange } from "./request.ts";
import { errorOf } from "./statusError.ts";

/** Reads the last lines of the logs of pods. */
export interface PodLogs {
  /** Of the first container. Rejects with ClusterError when the API server, or the node of the pod, does not give them. */
  last(pod: { readonly name: string; readonly namespace: string }, signal?: AbortSignal): Promise<string>;
}

// Enough to hold the reason of the last failed try of a program that tries every half minute.
const LINES = 50;
const MAX_BYTES = 256 * 1024;

/** The logs that an API server fetches from the nodes of its cluster. */
export function podLogs(options: Pick<ConnectionOptions, "kubeconfig" | "clock"> & { readonly silenceMs?: number }): PodLogs {
  const connection: Connection = connectionTo({ silenceMs: 5_000, ...options });
  return {
    async last({ name, namespace }, signal) {
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/log`;
      const query = { tailLines: String(LINES), limitBytes: String(MAX_BYTES) };
      const answer = await exchange(connection, { method: "GET", path, query }, signal, 2 * MAX_BYTES);
      if (answer.status >= 300) throw errorOf(answer, { method: "GET", path });
      return answer.text;
    },
  };
}
