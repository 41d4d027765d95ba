import { allKinds, customResourceDefinitions, hasUserStatus } from "@isthmus/api";
import type { Clock, Resource } from "@isthmus/core";
import { kubernetesCluster, loadKubeconfig } from "@isthmus/kubernetes";
import type { Cluster } from "@isthmus/plane";
import { type DemoClustersOptions, demoClusters, demoPolicies, type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { type ServedApi, serveCluster } from "@isthmus/simulator/restApi";
import { type KubeconfigEntry, kubeconfigText } from "./demoKubeconfig.ts";

/** The context of the management cluster; the others are called as their clusters. */
const MANAGEMENT_CONTEXT = "mgmt";

/** A simulated cluster with its API server, and a client of that as the programs of an installation have it. */
export interface DemoCluster {
  readonly simulated: SimulatedCluster;
  readonly client: Cluster;
  readonly api: ServedApi;
  readonly entry: KubeconfigEntry;
}

export interface DemoClusters {
  readonly management: DemoCluster;
  readonly workload: readonly DemoCluster[];
  /** Stops their API servers. */
  close(): Promise<void>;
}

/** Makes the clusters of the demo, each with the namespace of the management plane, and serves them on loopback. */
export async function startDemoClusters({
  namespace,
  clock,
  random,
  scale,
}: {
  readonly namespace: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly scale: Pick<DemoClustersOptions, "clusters" | "services">;
}): Promise<DemoClusters> {
  const start = async (name: string, resources: readonly Resource[]): Promise<DemoCluster> => {
    const simulated = simulatedCluster({ name, clock, kinds: allKinds() });
    const api = await serveCluster({ cluster: simulated });
    simulated.load([...definitions(), ...resources]);
    const entry = { name: name === "" ? MANAGEMENT_CONTEXT : name, server: api.url, ca: api.ca, token: api.token };
    const kubeconfig = loadKubeconfig({ text: kubeconfigText([entry]) });
    return { simulated, client: kubernetesCluster({ name, kubeconfig, clock, random, keepsLastWriter: hasUserStatus }), api, entry };
  };
  const [management, ...workload] = await Promise.all([
    start("", [namespaceOf(namespace), namespaceOf("bookinfo"), demoPolicies.settings, demoPolicies.failedRequests]),
    ...Object.entries(demoClusters({ isMultiRoot: true, ...scale })).map(([name, resources]) =>
      start(name, [namespaceOf(namespace), ...resources]),
    ),
  ]);
  return {
    management,
    workload,
    close: async () => {
      await Promise.all([management, ...workload].map(({ api }) => api.close()));
    },
  };
}

/** The CRDs of our kinds, as an installation has them. Kinds of others are served without. */
function definitions(): readonly Resource[] {
  return customResourceDefinitions() as readonly unknown[] as readonly Resource[];
}

function namespaceOf(name: string): Resource {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}
