import { type Cluster, ClusterError } from "@isthmus/plane";

/** A way to an API server that can be cut: then every call fails, and watches hear nothing, as through a firewall. */
export interface Cuttable {
  over(cluster: Cluster): Cluster;
  cut(): void;
  mend(): void;
}

export function cuttable(): Cuttable {
  let isCut = false;
  const through = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isCut) throw new ClusterError("Unavailable", "the API server cannot be reached");
    return call();
  };
  return {
    over: (to) => ({
      ...to,
      servedKinds: (signal) => through(() => to.servedKinds(signal)),
      get: (kind, ref, signal) => through(() => to.get(kind, ref, signal)),
      list: (kind, options, signal) => through(() => to.list(kind, options, signal)),
      async *watch(kind, resourceVersion, options, signal) {
        for await (const event of to.watch(kind, resourceVersion, options, signal)) {
          if (isCut) throw new ClusterError("Unavailable", "the API server cannot be reached");
          yield event;
        }
      },
      apply: (resource, options) => through(() => to.apply(resource, options)),
      applyStatus: (resource, options) => through(() => to.applyStatus(resource, options)),
      create: (resource) => through(() => to.create(resource)),
      update: (resource) => through(() => to.update(resource)),
      updateStatus: (resource) => through(() => to.updateStatus(resource)),
      delete: (ref, preconditions) => through(() => to.delete(ref, preconditions)),
    }),
    cut() {
      isCut = true;
    },
    mend() {
      isCut = false;
    },
  };
}
