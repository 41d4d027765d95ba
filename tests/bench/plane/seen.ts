import type { Kind, Resource } from "@isthmus/core";
import type { Cluster } from "@isthmus/plane";

/** When a cluster first holds an object of a kind that `isThere`, from now on, in milliseconds of `performance.now()`. */
export async function firstSeen<R extends Resource>(cluster: Cluster, kind: Kind<R>, isThere: (resource: R) => boolean): Promise<number> {
  const life = new AbortController();
  const { items, resourceVersion } = await cluster.list(kind);
  if (items.some(isThere)) return performance.now();
  try {
    for await (const event of cluster.watch(kind, resourceVersion, {}, life.signal)) {
      if (event.type === "put" && isThere(event.resource)) return performance.now();
    }
  } finally {
    life.abort();
  }
  throw new Error(`the watch of ${kind.plural} in ${cluster.name} ended early`);
}
