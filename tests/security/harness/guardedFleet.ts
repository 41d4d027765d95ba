import { setMaxListeners } from "node:events";
import { AuthorizationPolicy, allKinds } from "@isthmus/api";
import type { AnyResource, Resource } from "@isthmus/core";
import { systemClock } from "@isthmus/plane";
import { grpcConnector, type RelayCredentials } from "@isthmus/relay";
import { demoClusters, type SimulatedCluster, simulatedCluster, startControllers } from "@isthmus/simulator";
import { startFullAgent } from "./fullAgent.ts";
import { NAMESPACE, type Replica, type Replicas, SHARED_TOKEN, until } from "./replicas.ts";

const clock = systemClock;
const QUIET = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** The demo's clusters, alive, each with a full agent that is connected to a replica over a real socket. */
export interface GuardedFleet {
  readonly clusters: Readonly<Record<string, SimulatedCluster>>;
  stop(): Promise<void>;
}

/** Clusters whose mesh has a trust domain of its own: the cluster's name. */
export async function guardedFleet(plane: Replicas, replica: Replica): Promise<GuardedFleet> {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const ended: Promise<void>[] = [];
  const clusters: Record<string, SimulatedCluster> = {};
  plane.management.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: "bookinfo" } }]);
  for (const [name, resources] of Object.entries(demoClusters())) {
    const cluster = simulatedCluster({ name, clock, kinds: allKinds() });
    const own = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
    cluster.load([own, ...resources, meshConfig(name)]);
    void startControllers(cluster, { clock, log: QUIET }, stop.signal);
    ended.push(startAgent({ cluster, replica }, stop.signal));
    clusters[name] = cluster;
  }
  for (const name of Object.keys(clusters)) {
    await until(() => replica.server.store.clusters.get(name)?.phase === "synced", `${name} is synced`);
  }
  return {
    clusters,
    async stop() {
      stop.abort(new Error("the test is over"));
      await Promise.all(ended);
    },
  };
}

/** Where Istio has its trust domain from; the whole `mesh` where that is given. */
export function meshConfig(clusterName: string, mesh = `trustDomain: ${clusterName}\n`): AnyResource {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "istio", namespace: "istio-system", clusterName }, data: { mesh } };
}

function startAgent({ cluster, replica }: { readonly cluster: SimulatedCluster; readonly replica: Replica }, signal: AbortSignal) {
  const clusterUid = `uid-of-${cluster.name}`;
  let held: RelayCredentials | undefined;
  const connector = grpcConnector({
    address: replica.address,
    clusterName: cluster.name,
    clusterUid,
    root: async () => replica.kept.identity.root,
    token: async () => SHARED_TOKEN,
    credentials: {
      load: async () => held,
      async save(credentials) {
        held = credentials;
      },
    },
    clock,
    random: Math.random,
    log: QUIET,
  });
  return startFullAgent({ cluster, clusterUid, connector, log: QUIET }, signal).ended;
}

/** Watches the AuthorizationPolicies of a cluster, so that nothing escapes that was there for a moment only. */
export interface Guard {
  /** The spec of each, by name, now. */
  now(): Readonly<Record<string, unknown>>;
  /** Every change since the guard was set, as a sentence. */
  readonly changes: readonly string[];
}

/** Guards a cluster from now on. */
export async function guardOf(cluster: SimulatedCluster, signal: AbortSignal): Promise<Guard> {
  const { items, resourceVersion } = await cluster.list(AuthorizationPolicy);
  const specs = new Map(items.map((item) => [nameOf(item), JSON.stringify(item.spec)]));
  const changes: string[] = [];
  const follow = async () => {
    for await (const event of cluster.watch(AuthorizationPolicy, resourceVersion, {}, signal)) {
      if (event.type === "malformed") changes.push("somebody wrote what is no AuthorizationPolicy");
      if (event.type !== "put" && event.type !== "removed") continue;
      const name = nameOf(event.resource);
      const spec = event.type === "removed" ? undefined : JSON.stringify(event.resource.spec);
      if (spec === specs.get(name)) continue;
      changes.push(`${name}: ${specs.get(name)} became ${spec}`);
      if (spec === undefined) specs.delete(name);
      else specs.set(name, spec);
    }
  };
  follow().catch((error: unknown) => {
    if (!signal.aborted) changes.push(`the guard fell asleep: ${String(error)}`);
  });
  return { now: () => Object.fromEntries([...specs].map(([name, spec]) => [name, JSON.parse(spec)])), changes };
}

const nameOf = ({ metadata }: Resource) => `${metadata.name}.${metadata.namespace ?? ""}`;

/** Waits until the plane has come around, from the management cluster to a workload cluster: all that happened before has had its effect. */
export async function comeAround({ plane, cluster, service }: Round): Promise<void> {
  for (const requestTimeout of ["7s", "8s"]) {
    const services = [{ name: service, namespace: "bookinfo", clusterName: cluster.name }];
    const spec = { destinationSelector: [{ kubeServiceRefs: { services } }], policy: { requestTimeout } };
    const metadata = { name: "comes-around", namespace: "bookinfo" };
    const policy = { apiVersion: "networking.mesh.gloo.solo.io/v1", kind: "TrafficPolicy", metadata, spec };
    await plane.management.apply(policy, { fieldManager: "kubectl", force: true });
    const route = { apiVersion: "networking.istio.io/v1", kind: "VirtualService", name: service, namespace: "bookinfo" };
    const isThere = () => JSON.stringify(cluster.object(route) ?? {}).includes(`"timeout":"${requestTimeout}"`);
    await until(isThere, `a route has come to ${cluster.name}`);
  }
}

interface Round {
  readonly plane: Pick<Replicas, "management">;
  readonly cluster: SimulatedCluster;
  /** In the namespace `bookinfo` of the cluster. */
  readonly service: string;
}
