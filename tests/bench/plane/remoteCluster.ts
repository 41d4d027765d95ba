import type { AnyResource, Kind, Resource, ResourceRef } from "@isthmus/core";
import {
  type ApplyOptions,
  type Cluster,
  ClusterError,
  type ClusterErrorCode,
  type ListOptions,
  type Preconditions,
  type ResourceList,
  type WatchEvent,
  type WholeListOptions,
} from "@isthmus/ports";
import { type Answers, type Remote, RemoteError } from "./rpc.ts";

/** A kind without its checks, which the reader makes. */
type Type = Omit<Kind, "parse" | "project">;

/** One method of `Cluster`, with its arguments. */
type ClusterCall =
  | { readonly method: "servedKinds" }
  | { readonly method: "get"; readonly type: Type; readonly ref: { readonly name: string; readonly namespace: string } }
  | { readonly method: "list"; readonly type: Type; readonly list: ListOptions }
  | { readonly method: "listOn"; readonly page: number }
  | { readonly method: "apply" | "applyStatus"; readonly resource: AnyResource; readonly options: ApplyOptions }
  | { readonly method: "create" | "update" | "updateStatus"; readonly resource: AnyResource }
  | { readonly method: "delete"; readonly ref: ResourceRef; readonly preconditions: Preconditions };

interface CallArgument {
  readonly cluster: string;
  readonly call: ClusterCall;
}

interface WatchArgument {
  readonly cluster: string;
  readonly type: Type;
  readonly resourceVersion: string;
  readonly list: ListOptions;
}

/** Of a list as of one moment. */
interface Page extends ResourceList<Resource> {
  /** Names the next one; undefined after the last one. */
  readonly next: number | undefined;
}

/** A cluster in another process, so that the work of its API server is not counted in this one. */
export function remoteCluster(name: string, remote: Remote): Cluster {
  const ask = <T>(call: ClusterCall): Promise<T> =>
    remote.call<T>("cluster", { cluster: name, call } satisfies CallArgument).catch(asClusterError);

  return {
    name,
    servedKinds: () => ask({ method: "servedKinds" }),
    async get(kind, ref) {
      const found = await ask<unknown>({ method: "get", type: typeOf(kind), ref });
      return found === undefined ? undefined : kind.parse(found);
    },
    async list<R extends Resource>(
      kind: Kind<R>,
      { transform: keep = (resource) => resource, ...list }: WholeListOptions<R> = {},
    ): Promise<ResourceList<R>> {
      const items: R[] = [];
      let page = await ask<Page>({ method: "list", type: typeOf(kind), list });
      const { malformed, resourceVersion } = page;
      for (;;) {
        for (const item of page.items) items.push(keep(kind.parse(item)));
        if (page.next === undefined) return { items, malformed, resourceVersion };
        page = await ask<Page>({ method: "listOn", page: page.next });
      }
    },
    async *watch<R extends Resource>(kind: Kind<R>, resourceVersion: string, list: ListOptions, signal: AbortSignal) {
      const argument: WatchArgument = { cluster: name, type: typeOf(kind), resourceVersion, list };
      try {
        for await (const event of remote.stream<WatchEvent<R>>("watch", argument, signal)) {
          yield event.type === "put" ? { ...event, resource: kind.parse(event.resource) } : event;
        }
      } catch (error) {
        return asClusterError(error);
      }
    },
    apply: (resource, options) => ask({ method: "apply", resource: { ...resource }, options }),
    applyStatus: (resource, options) => ask({ method: "applyStatus", resource: { ...resource }, options }),
    create: (resource) => ask({ method: "create", resource: { ...resource } }),
    update: (resource) => ask({ method: "update", resource: { ...resource } }),
    updateStatus: (resource) => ask({ method: "updateStatus", resource: { ...resource } }),
    delete: (ref, preconditions = {}) => ask({ method: "delete", ref, preconditions }),
    evict: () => Promise.reject(new ClusterError("Unserved", "no pod is evicted here")),
  };
}

function asClusterError(error: unknown): never {
  if (error instanceof RemoteError && error.code !== undefined) {
    throw new ClusterError(error.code as ClusterErrorCode, error.message, error.details ?? {}, error);
  }
  throw error;
}

function typeOf({ apiVersion, kind, plural, namespaced, versions }: Type): Type {
  return { apiVersion, kind, plural, namespaced, versions };
}

/** Lets another process use clusters of this one. */
export function clusterAnswers(clusterNamed: (name: string) => Cluster): Required<Answers> {
  const watch = ({ cluster, type, resourceVersion, list }: WatchArgument, signal: AbortSignal) =>
    clusterNamed(cluster).watch(uncheckedKind(type), resourceVersion, list, signal);
  return { calls: { cluster: ({ cluster, call }: CallArgument) => carriedOut(clusterNamed(cluster), call) }, streams: { watch } };
}

function carriedOut(cluster: Cluster, call: ClusterCall): Promise<unknown> {
  switch (call.method) {
    case "servedKinds":
      return cluster.servedKinds();
    case "get":
      return cluster.get(uncheckedKind(call.type), call.ref);
    case "list":
      return cluster.list(uncheckedKind(call.type), call.list).then(firstPage);
    case "listOn":
      return Promise.resolve(pageAt(call.page));
    case "apply":
    case "applyStatus":
      return cluster[call.method](call.resource, call.options);
    case "create":
    case "update":
    case "updateStatus":
      return cluster[call.method](call.resource);
    case "delete":
      return cluster.delete(call.ref, call.preconditions);
  }
}

function uncheckedKind(type: Type): Kind {
  return { ...type, parse: (input) => input as Resource };
}

// As many as our own client asks for.
const PAGE_SIZE = 200;
const lists = new Map<number, { readonly list: ResourceList<Resource>; from: number }>();
let lastList = 0;

function firstPage(list: ResourceList<Resource>): Page {
  lists.set(++lastList, { list, from: 0 });
  return pageAt(lastList);
}

function pageAt(id: number): Page {
  const open = lists.get(id);
  if (open === undefined) throw new Error(`list ${id} has been read`);
  const items = open.list.items.slice(open.from, open.from + PAGE_SIZE);
  open.from += items.length;
  const isLast = open.from >= open.list.items.length;
  if (isLast) lists.delete(id);
  return { ...open.list, items, next: isLast ? undefined : id };
}
