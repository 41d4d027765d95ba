import type { Clock, Kind, Resource } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { type Connection, connectionTo } from "./connection.ts";
import type { Kubeconfig } from "./kubeconfig.ts";
import { listAll } from "./list.ts";
import { named, parsedObject } from "./objects.ts";
import { objectPath } from "./paths.ts";
import { call } from "./request.ts";
import { type ApiDiscovery, apiDiscovery } from "./served.ts";
import type { WatchTarget } from "./target.ts";
import { watchFrom } from "./watch.ts";
import {
  createResource,
  deleteResource,
  evictPod,
  serverSideApply,
  serverSideApplyStatus,
  updateResource,
  updateResourceStatus,
  type WriteTarget,
} from "./write.ts";

export interface KubernetesClusterOptions {
  /** "" for the management cluster. */
  readonly name: string;
  readonly kubeconfig: Kubeconfig;
  readonly clock: Clock;
  /** Spreads the lifetimes of watches; gives 0..1. */
  readonly random: () => number;
  /** How long the API server may stay silent while it answers. Default 30 s. */
  readonly silenceMs?: number;
  /** How long a watch is asked to last, in seconds: something from the first to the second. Default: 240 to 360. */
  readonly watchSeconds?: readonly [number, number];
  /** How long the API server may take to end a watch when its time is over. Default 30 s. */
  readonly watchGraceMs?: number;
  /** The kinds of whose objects lists and watches also give who changed them last (`lastWriterOf` of core). Default: none. */
  readonly keepsLastWriter?: (kind: Kind) => boolean;
}

/** A real Kubernetes cluster behind the Cluster port. Nothing is sent before the first call. */
export function kubernetesCluster(options: KubernetesClusterOptions): Cluster {
  const { name, kubeconfig, clock, random, silenceMs = 30_000, watchSeconds = WATCH_SECONDS, watchGraceMs = 30_000 } = options;
  const connection = connectionTo({ kubeconfig, clock, silenceMs });
  const discovery = apiDiscovery(connection);
  const { keepsLastWriter = () => false } = options;
  return clusterOver({
    name,
    connection,
    discovery,
    keepsLastWriter,
    watchSettings: { clock, random, seconds: watchSeconds, graceMs: watchGraceMs },
  });
}

// Spread out, so that not all watches of all agents come back at once.
const WATCH_SECONDS = [240, 360] as const;

interface Parts {
  readonly name: string;
  readonly connection: Connection;
  readonly discovery: ApiDiscovery;
  readonly watchSettings: Parameters<typeof watchFrom>[2];
  readonly keepsLastWriter: (kind: Kind) => boolean;
}

function clusterOver({ name, connection, discovery, watchSettings, keepsLastWriter }: Parts): Cluster {
  async function reading<R extends Resource>(kind: Kind<R>, signal: AbortSignal | undefined): Promise<WatchTarget<R>> {
    const apiVersion = await discovery.versionOf(kind, signal);
    const collection = { apiVersion, kind: kind.kind, plural: kind.plural, namespaced: kind.namespaced };
    return { connection, clusterName: name, kind, collection, keepsLastWriter: keepsLastWriter(kind) };
  }

  async function writing(
    type: { readonly apiVersion: string; readonly kind: string },
    signal: AbortSignal | undefined,
  ): Promise<WriteTarget> {
    return { connection, clusterName: name, collection: await discovery.typeOf(type, signal) };
  }

  /** A path that the API server doesn't know any more: what we remember of it is old. */
  async function unlessGone<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof ClusterError && error.code === "Unserved") discovery.forget();
      throw error;
    }
  }

  return {
    name,
    servedKinds: (signal) => discovery.read(signal),
    async get(kind, { name: objectName, namespace }, signal) {
      const { collection } = await reading(kind, signal);
      const path = objectPath(collection, { name: objectName, namespace });
      try {
        const object = named(await unlessGone(call(connection, { method: "GET", path }, signal)), kind.kind);
        const metadata = name === "" ? object.metadata : { ...object.metadata, clusterName: name };
        const result = parsedObject(kind, { ...object, apiVersion: collection.apiVersion, kind: kind.kind, metadata });
        if ("resource" in result) return result.resource;
        throw new ClusterError("Invalid", result.malformed.message);
      } catch (error) {
        if (error instanceof ClusterError && error.code === "NotFound") return undefined;
        throw error;
      }
    },
    async list(kind, options = {}, signal) {
      return unlessGone(listAll(await reading(kind, signal), options, signal));
    },
    async *watch(kind, resourceVersion, options, signal) {
      try {
        yield* watchFrom(await reading(kind, signal), { resourceVersion, options }, watchSettings, signal);
      } catch (error) {
        if (error instanceof ClusterError && error.code === "Unserved") discovery.forget();
        throw error;
      }
    },
    apply: async (resource, options, signal) => unlessGone(serverSideApply(await writing(resource, signal), resource, options, signal)),
    applyStatus: async (resource, options, signal) =>
      unlessGone(serverSideApplyStatus(await writing(resource, signal), resource, options, signal)),
    create: async (resource, signal) => unlessGone(createResource(await writing(resource, signal), resource, signal)),
    update: async (resource, signal) => unlessGone(updateResource(await writing(resource, signal), resource, signal)),
    updateStatus: async (resource, signal) => unlessGone(updateResourceStatus(await writing(resource, signal), resource, signal)),
    delete: async (ref, preconditions = {}, signal) => unlessGone(deleteResource(await writing(ref, signal), ref, preconditions, signal)),
    evict: async (pod, preconditions = {}, signal) => unlessGone(evictPod(await writing(pod, signal), pod, preconditions, signal)),
  };
}
