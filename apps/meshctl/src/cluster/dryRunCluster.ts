import { type AnyResource, formatRef, kindKeyOf, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";

type Named = Pick<ResourceRef, "apiVersion" | "kind" | "name" | "namespace">;

/**
 * A cluster in which nothing is changed: each change is reported instead, one line each. The API server tries what is applied; what would be
 * deleted is not seen any more, so that what follows from it is reported, too.
 */
export function dryRunCluster(cluster: Cluster, tell: (line: string) => void): Cluster {
  const gone = new Set<string>();
  // Nothing can be tried in a namespace that is not there yet.
  const namespaces = new Set<string>();
  const keyOf = (ref: Named): string => `${kindKeyOf(ref)}/${ref.namespace}/${ref.name}`;
  const told = <R extends Resource>(resource: R, change: string): R => {
    tell(`${formatRef(refOf(resource))}: would be ${change}`);
    return resource;
  };
  // Each member by name: a way to write that is added to a cluster must not be passed through.
  return {
    name: cluster.name,
    servedKinds: (signal) => cluster.servedKinds(signal),
    watch: (kind, resourceVersion, options, signal) => cluster.watch(kind, resourceVersion, options, signal),
    get: async (kind, ref, signal) => (gone.has(keyOf({ ...kind, ...ref })) ? undefined : cluster.get(kind, ref, signal)),
    list: async (kind, options, signal) => {
      const listed = await cluster.list(kind, options, signal);
      const stays = ({ metadata: { name, namespace = "" } }: Resource): boolean => !gone.has(keyOf({ ...kind, name, namespace }));
      return { ...listed, items: listed.items.filter(stays) };
    },
    apply: async (resource, options, signal) => {
      const { kind, metadata } = resource;
      const isTried = !namespaces.has(metadata.namespace ?? "");
      const applied = isTried ? await cluster.apply(resource, { ...options, dryRun: true }, signal) : (resource as AnyResource);
      if (options.dryRun === true) return applied;
      if (kind === "Namespace") namespaces.add(metadata.name);
      return told(applied, "applied");
    },
    applyStatus: async (resource) => resource,
    create: async (resource) => told(resource as AnyResource, "created"),
    update: async (resource) => told(resource as AnyResource, "changed"),
    updateStatus: async (resource) => resource,
    delete: async (ref) => {
      gone.add(keyOf(ref));
      tell(`${formatRef(ref)}: would be deleted`);
    },
    evict: async (pod) => tell(`${formatRef(pod)}: would be evicted`),
  };
}
