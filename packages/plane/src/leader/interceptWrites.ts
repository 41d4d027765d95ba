import type { Resource, ResourceRef } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";

/** What is done around each write; it makes the write itself, or rejects. `written`: the object, or of what is deleted the ref. */
export type WriteInterceptor = <T>(written: Resource | ResourceRef, write: () => Promise<T>, signal: AbortSignal | undefined) => Promise<T>;

/** A cluster with `around` about each of its writes; what is read goes through as it is. */
export function interceptWrites(cluster: Cluster, around: WriteInterceptor): Cluster {
  return {
    name: cluster.name,
    servedKinds: (signal) => cluster.servedKinds(signal),
    get: (kind, ref, signal) => cluster.get(kind, ref, signal),
    list: (kind, options, signal) => cluster.list(kind, options, signal),
    watch: (kind, resourceVersion, options, signal) => cluster.watch(kind, resourceVersion, options, signal),
    apply: (resource, options, signal) => around(resource, () => cluster.apply(resource, options, signal), signal),
    applyStatus: (resource, options, signal) => around(resource, () => cluster.applyStatus(resource, options, signal), signal),
    create: (resource, signal) => around(resource, () => cluster.create(resource, signal), signal),
    update: (resource, signal) => around(resource, () => cluster.update(resource, signal), signal),
    updateStatus: (resource, signal) => around(resource, () => cluster.updateStatus(resource, signal), signal),
    delete: (ref, preconditions, signal) => around(ref, () => cluster.delete(ref, preconditions, signal), signal),
    evict: (pod, preconditions, signal) => around(pod, () => cluster.evict(pod, preconditions, signal), signal),
  };
}
