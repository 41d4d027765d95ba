import { type Collection, type Delta, kindKeyOf, type Resource, refOf, resourceKeyOf, type Snapshot } from "@isthmus/core";

/**
 * What stands for what users asked in clusters that have not been heard since this server started: as the statuses of published
 * objects repeat it. So a restart of the server takes nothing away that somebody in a silent cluster asked for: see
 * docs/decisions/0011. What was recalled once stays as it was until its cluster is heard.
 */
export interface LastKnownRequests {
  /** The clusters that are offline. */
  readonly silent: ReadonlySet<string>;
  /** By `resourceKeyOf`. */
  readonly objects: ReadonlyMap<string, Resource>;
}

export const noLastKnownRequests: LastKnownRequests = { silent: new Set(), objects: new Map() };

export interface LastKnownRequestSources {
  readonly management: Snapshot;
  readonly discoveryKinds: ReadonlySet<string>;
  readonly silent: ReadonlySet<string>;
  /** What users asked in workload clusters, as the status of a published object repeats it. */
  readonly lastKnownRequests: (published: Resource) => readonly Resource[];
}

/** Costs nothing unless clusters fell silent or were heard. */
export function publishedRequests(before: LastKnownRequests, sources: LastKnownRequestSources): LastKnownRequests {
  const { management, discoveryKinds, silent, lastKnownRequests } = sources;
  const isNew = (name: string | undefined) => name !== undefined && silent.has(name) && !before.silent.has(name);
  const objects = new Map([...before.objects].filter(([, { metadata }]) => silent.has(metadata.clusterName ?? "")));
  if ([...silent].some(isNew)) {
    for (const kindKey of discoveryKinds) {
      for (const published of management.collections().get(kindKey) ?? []) {
        for (const request of lastKnownRequests(published)) {
          if (isNew(request.metadata.clusterName)) objects.set(resourceKeyOf(refOf(request)), request);
        }
      }
    }
  }
  return { silent, objects };
}

/** What joins the inputs of translation, and what leaves them but for what is really there: `known` is what agents reported. */
export function lastKnownRequestDelta(before: LastKnownRequests, now: LastKnownRequests, known: (clusterName: string) => Snapshot): Delta {
  const put = [...now.objects].filter(([key, resource]) => before.objects.get(key) !== resource).map(([, resource]) => resource);
  const gone = [...before.objects].filter(([key]) => !now.objects.has(key)).map(([, resource]) => refOf(resource));
  const isThere = (ref: ReturnType<typeof refOf>) => collectionOf(known(ref.clusterName), kindKeyOf(ref))?.get(ref) !== undefined;
  return { put, remove: gone.filter((ref) => !isThere(ref)) };
}

function collectionOf(snapshot: Snapshot, kindKey: string): Collection<Resource> | undefined {
  return snapshot.collections().get(kindKey);
}
