import { setMaxListeners } from "node:events";
import { DestinationRule, Gateway, ServiceEntry, VirtualService } from "@isthmus/api";
import type { Kind, Resource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import type { ApiServer, OwnApiServer } from "./apiServer.ts";
import { type App, type ManagementServer, startAgent, startManagementServer } from "./apps.ts";
import { clusterOf } from "./clusters.ts";
import type { Components } from "./components.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { namespace } from "./istioInstallation.ts";
import { applyAll, installCrds } from "./manifests.ts";
import { fillMeshCluster, ourCrds } from "./meshCluster.ts";
import { giveRelaySecrets } from "./relaySecrets.ts";

const WRITTEN: readonly Kind[] = [VirtualService, DestinationRule, ServiceEntry, Gateway];

/** On every object that networking writes. */
export const OWNER_LABEL = "owner.networking.mesh.gloo.solo.io";

/** A management cluster, two workload clusters with Istio and Bookinfo, and our programs as processes between them. */
export interface Slice<Server extends ApiServer = ApiServer> {
  readonly fleet: Fleet<"management" | "cluster-1" | "cluster-2", Server>;
  readonly management: Cluster;
  readonly first: Cluster;
  readonly second: Cluster;
  /** The first of `replicas`. */
  readonly server: ManagementServer;
  readonly replicas: readonly ManagementServer[];
  /** Of `first`, then of `second`. */
  readonly agents: readonly App[];
  stop(): Promise<void>;
}

export interface SliceOptions {
  /** How many management servers there are, and what each is given on its command line. Default: one, nothing. */
  readonly replicas?: readonly (readonly string[])[];
  /** Where agents connect, given where the management servers listen. Default: at the first one. */
  readonly relay?: (addresses: readonly string[]) => Promise<string>;
  /** Whether its API servers are started for it alone. Default: they are leased. */
  readonly fresh?: boolean;
  /** The files that are run. Default: those of this checkout. */
  readonly programs?: { readonly server: string; readonly agent: string; readonly areEarlier?: boolean };
}

/** A slice whose API servers are its own, so that they can be stopped. */
export function startSlice(components: Components, options: SliceOptions & { readonly fresh: true }): Promise<Slice<OwnApiServer>>;
/** Starts everything; resolves when the agents run. Whatever ran is stopped when something does not start. */
export function startSlice(components: Components, options?: SliceOptions): Promise<Slice>;
export async function startSlice(components: Components, options: SliceOptions = {}): Promise<Slice> {
  const { replicas: told = [[]], relay, programs, fresh = false } = options;
  const fleet = await startFleet(components, ["management", "cluster-1", "cluster-2"], fresh ? { fresh } : { crds: "all" });
  const controllers = new AbortController();
  // Each controller's queue and each watch listens.
  setMaxListeners(0, controllers.signal);
  const ends: Promise<void>[] = [];
  const apps: App[] = [];
  async function stop(): Promise<void> {
    await Promise.all(apps.map(({ program }) => program.stop()));
    controllers.abort();
    await Promise.allSettled(ends);
    await fleet.stop();
  }

  try {
    const management = clusterOf(fleet.servers.management, "");
    const first = clusterOf(fleet.servers["cluster-1"], "cluster-1");
    const second = clusterOf(fleet.servers["cluster-2"], "cluster-2");
    if (fresh) await installCrds(management, ourCrds());
    await applyAll(management, [namespace("gloo-mesh")]);
    const filled = await Promise.all([first, second].map((cluster) => fillMeshCluster(cluster, components, controllers.signal)));
    ends.push(...filled.map(({ ended }) => ended));
    const { directory } = fleet;
    const replicas: ManagementServer[] = [];
    for (const [i, more] of told.entries()) {
      const name = i === 0 ? "mgmt-server" : `mgmt-server-${i + 1}`;
      const replica = await startManagementServer({
        server: fleet.servers.management,
        directory,
        name,
        more,
        ...(programs && { bin: programs.server }),
      });
      apps.push(replica.app);
      replicas.push(replica);
      await replica.app.ready();
    }
    const [server] = replicas;
    if (server === undefined) throw new TypeError("a slice needs a management server");
    const relayAddress = (await relay?.(replicas.map((replica) => replica.relayAddress))) ?? server.relayAddress;
    const agents: App[] = [];
    for (const cluster of [first, second]) {
      await giveRelaySecrets(management, cluster);
      const apiServer = fleet.servers[cluster.name as "cluster-1" | "cluster-2"];
      agents.push(
        await startAgent({
          server: apiServer,
          cluster: cluster.name,
          relayAddress,
          directory,
          ...(programs && { bin: programs.agent, isEarlier: programs.areEarlier === true }),
        }),
      );
    }
    apps.push(...agents);
    return { fleet, management, first, second, server, replicas, agents, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Everything that we wrote in a cluster, with its version: equal before and after means that nothing was written. */
export async function written(cluster: Cluster): Promise<Readonly<Record<string, string>>> {
  const lists = await Promise.all(WRITTEN.map((kind) => cluster.list(kind)));
  const ours = lists
    .flatMap(({ items }): readonly Resource[] => items)
    .filter(({ metadata }) => metadata.labels?.[OWNER_LABEL] !== undefined);
  return Object.fromEntries(
    ours.map(({ kind, metadata }) => [`${kind} ${metadata.name}.${metadata.namespace}`, `${metadata.uid}/${metadata.resourceVersion}`]),
  );
}

/** What differs between two `written`: made, changed or gone. */
export function changesBetween(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys({ ...before, ...after }).filter((key) => before[key] !== after[key]);
}
