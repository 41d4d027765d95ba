import { waitFor } from "../../harness/waitFor.ts";
import type { Meshes } from "../harness/meshes.ts";
import { type ClusterName, type RequestOptions, threeClusterNames } from "../harness/testbed.ts";

/** The server of a cluster. */
export const server = (cluster: ClusterName): string => `${cluster}/reviews-v1`;
export const gateway = (cluster: ClusterName): string => `${cluster}/istio-ingressgateway`;

/** Two errors and an endpoint is out, for 4 s. */
export const outlierDetection = { consecutiveErrors: 2, interval: "1s", baseEjectionTime: "4s" };

/** Where requests to a host go. */
export interface FailoverProbes {
  /** The servers that answer, with how often. Each request is a connection of its own. */
  servers(options?: Partial<RequestOptions>): Promise<Readonly<Record<string, number>>>;
  /** Until all of 20 requests are answered by one server. */
  answeredBy(cluster: ClusterName, from?: ClusterName): Promise<void>;
  /** How many connections from other clusters all gateways have had. */
  atGateways(): Promise<number>;
  /** Makes all servers well. */
  heal(): Promise<void>;
}

export function probesOf(meshes: () => Meshes, host: string): FailoverProbes {
  async function servers(options: Partial<RequestOptions> = {}): Promise<Readonly<Record<string, number>>> {
    const { servers: counts } = await meshes().request({ host, count: 20, ...options });
    return counts;
  }

  return {
    servers,
    async answeredBy(cluster, from = "cluster-1") {
      await waitFor(`answers of ${server(cluster)} to ${from}`, async () => {
        const counts = await servers({ from });
        if (counts[server(cluster)] === 20) return true;
        throw new Error(JSON.stringify(counts));
      });
    },
    async atGateways() {
      // Of the listener: the counters of its filter chains go with them, when those of the policy before have drained.
      const pattern = "^listener[.].*_15443[.]downstream_cx_total";
      const counts = await Promise.all(threeClusterNames.map((cluster) => meshes().counter(gateway(cluster), pattern)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
    async heal() {
      for (const cluster of threeClusterNames) {
        await meshes().setServer(server(cluster), { isStopped: false });
        await meshes().setServer(server(cluster), {});
      }
    },
  };
}
