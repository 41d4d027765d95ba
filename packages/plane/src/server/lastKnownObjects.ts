import {
  type AnyResource,
  type Collection,
  type Delta,
  emptySnapshot,
  type Index,
  type Owner,
  type Resource,
  refOf,
  resourceKeyOf,
  type Snapshot,
  SortedMap,
} from "@isthmus/core";
import { bearsLabelOf } from "../apply/ownership.ts";

/** The label of a discovered object that names the cluster it was found in. */
export const DISCOVERED_IN = "cluster.discovery.mesh.gloo.solo.io";

/**
 * What stands for the clusters that are registered and have not been heard since this server started: the objects that
 * were last discovered there, as they are published in the management cluster. So a restart of the server takes nothing
 * away from anyone: see docs/decisions/0011. What was recalled once stays as it was until its cluster is heard, whatever is
 * done to the published object meanwhile: it is the only memory that there is.
 */
export interface LastKnownObjects {
  /** The clusters that are offline. */
  readonly silent: ReadonlySet<string>;
  /** By `resourceKeyOf`. */
  readonly objects: SortedMap<Resource>;
  /** The same, to be published as they were: each keeps its identity as long as it is recalled. */
  readonly republished: SortedMap<Resource>;
  /** The management cluster in which they were looked for. */
  readonly management: Snapshot;
}

export interface LastKnownSources {
  readonly management: Snapshot;
  readonly discoveryKinds: ReadonlySet<string>;
  readonly owner: Owner;
  readonly silent: ReadonlySet<string>;
}

export const noLastKnownObjects: LastKnownObjects = {
  silent: new Set(),
  objects: SortedMap.empty(),
  republished: SortedMap.empty(),
  management: emptySnapshot(),
};

/** Costs what changed: the objects of clusters that fell silent or were heard, and published objects that changed meanwhile. */
export function lastKnownObjects(before: LastKnownObjects, sources: LastKnownSources): LastKnownObjects {
  const { management, silent } = sources;
  if (silent.size === 0 && before.silent.size === 0) return { ...before, management };
  const changes = new Map<string, Resource | undefined>();
  const heard = [...before.silent].some((clusterName) => !silent.has(clusterName));
  if (heard) {
    for (const [key, resource] of before.objects) if (!silent.has(discoveredIn(resource) ?? "")) changes.set(key, undefined);
  }
  for (const resource of candidates(before, sources)) {
    const key = resourceKeyOf(refOf(resource));
    const isKept = before.objects.has(key) && !changes.has(key);
    if (!isKept && bearsLabelOf(resource, [sources.owner])) changes.set(key, resource);
  }
  if (changes.size === 0) return { ...before, silent, management };
  const republishing = [...changes].map(([key, resource]) => [key, resource && republished(resource)] as const);
  return { silent, management, objects: before.objects.update(changes), republished: before.republished.update(republishing) };
}

/** What joins the inputs of translation for what is recalled, and what leaves them. */
export function lastKnownDelta(before: LastKnownObjects, now: LastKnownObjects): Delta {
  const changes = now.objects.changesSince(before.objects);
  return {
    put: changes.flatMap(({ after }) => after ?? []),
    remove: changes.flatMap(({ before: was, after }) => (was !== undefined && after === undefined ? refOf(was) : [])),
  };
}

/** Published objects of silent clusters that were not looked at before. */
function* candidates(before: LastKnownObjects, { management, discoveryKinds, silent }: LastKnownSources): Iterable<Resource> {
  for (const kindKey of discoveryKinds) {
    const collection = management.collections().get(kindKey);
    if (collection === undefined) continue;
    for (const clusterName of silent) {
      if (!before.silent.has(clusterName)) yield* collection.where(byDiscoveredCluster, clusterName);
    }
    if (before.silent.size > 0) yield* came(collection, before.management.collections().get(kindKey), silent);
  }
}

function* came(now: Collection<Resource>, before: Collection<Resource> | undefined, silent: ReadonlySet<string>): Iterable<Resource> {
  const changed = before === undefined ? [...now] : now.changesSince(before).flatMap(({ after }) => after ?? []);
  for (const resource of changed) if (silent.has(discoveredIn(resource) ?? "")) yield resource;
}

/** A recalled object as it is to be published again. */
function republished(resource: Resource): Resource {
  const { status: _, metadata, ...body } = resource as AnyResource;
  const { name, namespace, labels, annotations } = metadata;
  const kept = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  };
  return { ...body, metadata: kept };
}

function discoveredIn(resource: Resource): string | undefined {
  return resource.metadata.labels?.[DISCOVERED_IN];
}

/** Published objects that were discovered in a cluster. */
export function publishedOf(management: Snapshot, discoveryKinds: Iterable<string>, clusterName: string): readonly Resource[] {
  return [...discoveryKinds].flatMap((kindKey) => management.collections().get(kindKey)?.where(byDiscoveredCluster, clusterName) ?? []);
}

const byDiscoveredCluster: Index<Resource> = (resource) => {
  const clusterName = discoveredIn(resource);
  return clusterName === undefined ? [] : [clusterName];
};
