import { formatRef, type Kind, refOf } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { type RequestLog, timedRequests } from "./timedRequests.ts";

/** A cluster of which each request is reported when it has ended: what it was, its result, and the time. Of an object only kind and name are said. */
export function loggedCluster(cluster: Cluster, log: RequestLog): Cluster {
  const timed = timedRequests(log);
  const named = ({ apiVersion, kind }: Kind, ref: { readonly name: string; readonly namespace: string }): string =>
    formatRef({ apiVersion, kind, name: ref.name, namespace: ref.namespace, clusterName: "" });
  // Each member by name: a request that is added to a cluster must not pass unseen.
  return {
    name: cluster.name,
    servedKinds: (signal) => timed("which kinds are served", cluster.servedKinds(signal), ({ length }) => `${length} kinds`),
    get: (kind, ref, signal) =>
      timed(`get ${named(kind, ref)}`, cluster.get(kind, ref, signal), (found) => (found === undefined ? "not there" : "found")),
    list: (kind, options, signal) =>
      timed(`list ${kind.plural}`, cluster.list(kind, options, signal), ({ items }) => `${items.length} objects`),
    watch: (kind, resourceVersion, options, signal) => {
      log.say(`watch ${kind.plural}: begun`);
      return cluster.watch(kind, resourceVersion, options, signal);
    },
    apply: (resource, options, signal) =>
      timed(`apply ${formatRef(refOf(resource))}${options.dryRun === true ? " (dry run)" : ""}`, cluster.apply(resource, options, signal)),
    applyStatus: (resource, options, signal) =>
      timed(`apply status of ${formatRef(refOf(resource))}`, cluster.applyStatus(resource, options, signal)),
    create: (resource, signal) => timed(`create ${formatRef(refOf(resource))}`, cluster.create(resource, signal)),
    update: (resource, signal) => timed(`update ${formatRef(refOf(resource))}`, cluster.update(resource, signal)),
    updateStatus: (resource, signal) => timed(`update status of ${formatRef(refOf(resource))}`, cluster.updateStatus(resource, signal)),
    delete: (ref, preconditions, signal) => timed(`delete ${formatRef(ref)}`, cluster.delete(ref, preconditions, signal)),
    evict: (pod, preconditions, signal) => timed(`evict ${formatRef(pod)}`, cluster.evict(pod, preconditions, signal)),
  };
}
