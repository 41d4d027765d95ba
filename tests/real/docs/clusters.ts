import type { Cluster } from "@isthmus/ports";
import { startControllers } from "@isthmus/simulator";
import type { Program } from "../harness/childProcess.ts";
import { clock, clusterOf, silent } from "../harness/clusters.ts";
import type { Components } from "../harness/components.ts";
import { startFleet } from "../harness/fleet.ts";
import { fillIstioCluster } from "../harness/meshCluster.ts";
import { startTokenController } from "../harness/tokenController.ts";
import { fillGlooMesh } from "./glooMesh.ts";
import { type Pods, startPods } from "./pods.ts";
import { makeWorkspace, type Workspace } from "./workspace.ts";

export type Context = "mgmt" | "east" | "west" | "gloo-mgmt";

/** What a document starts from, and the one who would be at work in real clusters. */
export interface DocumentClusters {
  readonly workspace: Workspace;
  /** Waits until all that is deployed runs. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * An empty management cluster, and workload clusters with Istio and Bookinfo; with controllers, load balancers and pods. With gloo-mgmt, east is
 * managed by a Gloo Mesh from there.
 */
export async function startDocumentClusters(components: Components, contexts: readonly Context[]): Promise<DocumentClusters> {
  const fleet = await startFleet(components, contexts, { crds: { east: "istio", west: "istio" } });
  const controllers = new AbortController();
  const ends: Promise<void>[] = [];
  const pods: Pods[] = [];
  const tokens: Program[] = [];
  // No other suite, and nobody else on this machine, listens there: suites that run at a time are processes of their own.
  const loopback = `127.${64 + (Math.floor(process.pid / 250) % 186)}.${1 + (process.pid % 250)}`;
  // Its load balancer has the address on which the server really listens.
  const addresses = { pods: "10.200.0.1", nodes: "172.18.250.2", loadBalancers: `${loopback}.1` };

  async function fill(context: Context, cluster: Cluster): Promise<void> {
    if (context === "gloo-mgmt") return;
    const { ended } =
      context === "mgmt"
        ? { ended: startControllers(cluster, { clock, log: silent, addresses }, controllers.signal) }
        : await fillIstioCluster(cluster, components, controllers.signal);
    ends.push(ended);
    const { directory, servers } = fleet;
    if (context !== "mgmt") tokens.push(startTokenController(components, servers[context], directory));
    pods.push(startPods({ components, server: servers[context], cluster, directory, loopback }));
  }

  async function stop(): Promise<void> {
    await Promise.allSettled([...pods, ...tokens].map((one) => one.stop()));
    controllers.abort();
    await Promise.allSettled(ends);
    await fleet.stop();
  }

  try {
    await Promise.all(contexts.map((context) => fill(context, clusterOf(fleet.servers[context], context))));
    const { east, "gloo-mgmt": gloo } = fleet.servers as Partial<typeof fleet.servers>;
    if (gloo !== undefined && east !== undefined) await fillGlooMesh({ components, management: gloo, workload: east });
    const workspace = makeWorkspace(
      components,
      fleet.directory,
      contexts.map((context) => fleet.servers[context]),
    );
    return { workspace, ready: async () => void (await Promise.all(pods.map((one) => one.ready()))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
