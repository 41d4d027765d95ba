import { setMaxListeners } from "node:events";
import { allKinds } from "@isthmus/api";
import { type Log, noMeter, type Resource, UsageError } from "@isthmus/core";
import {
  alwaysLeader,
  type Cluster,
  clusterRegistrations,
  clusterUid,
  KUBECONFIG_SECRET_TYPE,
  type Leadership,
  type Malformed,
  type Server,
  serverRoles,
  startServer,
} from "@isthmus/plane";
import { type RunningServerLink, startServerLink } from "@isthmus/relay/session";
import {
  demoClusters,
  type SimulatedCluster,
  simulatedCluster,
  startControllers,
  type VirtualClock,
  virtualClock,
} from "@isthmus/simulator";
import { workOnDirectClusters } from "../src/directClusters.ts";

export const namespace = "gloo-mesh";

/** A server that works on simulated clusters itself, in time that passes only when it is made to. */
export interface DirectFleet {
  readonly clock: VirtualClock;
  readonly management: SimulatedCluster;
  /** The demo's; kubeconfigs that are their names lead to them. */
  readonly clusters: Readonly<Record<string, SimulatedCluster>>;
  readonly warnings: readonly string[];
  readonly server: Server;
  /** Names of the clusters to which connections were made, in order. */
  readonly connected: readonly string[];
  stop(): Promise<void>;
}

export interface DirectFleetOptions {
  /** Single-cluster mode: the name of the management cluster, in which then is what the demo's first cluster holds. */
  readonly own?: string;
  readonly leadership?: Leadership;
  /** How clusters are reached. Default: directly. */
  readonly over?: (cluster: Cluster) => Cluster;
}

export async function startDirectFleet(options: DirectFleetOptions = {}): Promise<DirectFleet> {
  const { own, leadership = alwaysLeader, over = (cluster) => cluster } = options;
  const clock = virtualClock();
  const random = () => 0.5;
  const stop = quietController();
  const warnings: string[] = [];
  const warn: Log["warn"] = (_, message) => void warnings.push(message);
  const log: Log = { debug: () => undefined, info: () => undefined, warn, error: warn };
  const simulated = (name: string, resources: Iterable<Resource>): SimulatedCluster => {
    const cluster = simulatedCluster({ name, clock, kinds: allKinds() });
    cluster.load(resources);
    void startControllers(cluster, { clock, log }, stop.signal);
    return cluster;
  };
  const demo = demoClusters();
  const clusters = Object.fromEntries(Object.entries(demo).map(([name, resources]) => [name, simulated(name, resources)]));
  const [first = []] = Object.values(demo);
  const management = simulated("", own === undefined ? [] : first);
  const namespaces = own === undefined ? [namespace, "bookinfo"] : [namespace];
  management.load(namespaces.map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
  const uid = clusterUid(management, { clock, log }, stop.signal);
  await clock.settle();

  let link: RunningServerLink | undefined;
  const server: Server = startServer(
    {
      cluster: management,
      link: (handler, reportFilter) => {
        const remembers = (name: string) => server.store.remembers(name);
        link = startServerLink({ serverId: "server", handler, reportFilter, remembers, tellsFirst: true, clock, random, log }, stop.signal);
        return link;
      },
      ...serverRoles(namespace),
      resumeDeletes: async () => undefined,
      namespace,
      ownUid: await uid,
      translation: { namespace, stage: "all" },
      leadership,
      clock,
      random,
      log,
    },
    stop.signal,
  );
  if (link === undefined) throw new Error("the server created no link");
  const connected: string[] = [];
  const direct = workOnDirectClusters(
    {
      management,
      connect(name, kubeconfig) {
        const cluster = clusters[kubeconfig];
        if (cluster === undefined) throw new UsageError("the given kubeconfig: is not a kubeconfig");
        connected.push(name);
        return over(renamed(cluster, name));
      },
      server,
      accept: link.accept,
      registrations: clusterRegistrations(management, { namespace, view: () => server.view }),
      namespace,
      generation: "gloo-mesh",
      own: own === undefined ? undefined : { name: own, cluster: over(renamed(management, own)) },
      leadership,
      clock,
      random,
      log,
      meter: noMeter,
    },
    stop.signal,
  );
  await clock.advance(SETTLING_MS);
  return {
    clock,
    management,
    clusters,
    warnings,
    server,
    connected,
    async stop() {
      stop.abort(new Error("the test is over"));
      await clock.settle();
      await Promise.all([server.ended, direct]);
    },
  };
}

/** Until everything has come to rest, retries and pauses included. */
export const SETTLING_MS = 20_000;

/** What `meshctl cluster register` stores of a cluster. */
export async function register({ management, clock }: DirectFleet, name: string, kubeconfig = name): Promise<void> {
  const metadata = { name, namespace };
  await management.create({ apiVersion: "multicluster.solo.io/v1alpha1", kind: "KubernetesCluster", metadata });
  const secret = { apiVersion: "v1", kind: "Secret", metadata, type: KUBECONFIG_SECRET_TYPE, data: { kubeconfig: btoa(kubeconfig) } };
  await management.create(secret as Resource);
  await clock.advance(SETTLING_MS);
}

/** One cluster under another name, as two kubeconfigs may lead to one. */
function renamed(cluster: SimulatedCluster, name: string): Cluster {
  const named = <R extends Resource>(resource: R): R => ({ ...resource, metadata: { ...resource.metadata, clusterName: name } });
  const ofMalformed = (found: Malformed): Malformed => ({ ...found, ref: { ...found.ref, clusterName: name } });
  return {
    ...cluster,
    name,
    get: (kind, ref, signal) => cluster.get(kind, ref, signal).then((found) => found && named(found)),
    async list(kind, options, signal) {
      const list = await cluster.list(kind, options, signal);
      return { ...list, items: list.items.map(named), malformed: list.malformed.map(ofMalformed) };
    },
    async *watch(kind, resourceVersion, options, signal) {
      for await (const event of cluster.watch(kind, resourceVersion, options, signal)) {
        if (event.type === "put") yield { ...event, resource: named(event.resource) };
        else if (event.type === "removed") yield { ...event, resource: named(event.resource) };
        else if (event.type === "malformed") yield { ...event, malformed: ofMalformed(event.malformed) };
        else yield event;
      }
    },
  };
}

function quietController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
