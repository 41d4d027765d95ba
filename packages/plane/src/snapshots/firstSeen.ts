import { firstSeenOf, keyOfResource, kindKeyOf, type Resource, type Snapshot, withFirstSeen } from "@isthmus/core";

/** How the server keeps when it first saw the objects of workload clusters. */
export interface FirstSeenTimes {
  /** The kinds (`kindKeyOf`) whose objects' ages count. */
  readonly kinds: ReadonlySet<string>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /**
   * Whether somebody says of each cluster that is heard for the first time what is written down of it (`SnapshotStore.earlier`): until then
   * the cluster does not count, as its objects would be younger than they are.
   */
  readonly areKept: boolean;
}

export const NO_FIRST_SEEN_TIMES: FirstSeenTimes = { kinds: new Set(), now: () => 0, areKept: false };

/** A moment as it is kept. */
export function firstSeenTimestamp(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * An object as it came from an agent, with the moment when it was first seen: that of what is known of it already, if that is the
 * same object and not one that was made again under its name.
 */
export function withFirstSeenTime(
  resource: Resource,
  { kinds }: FirstSeenTimes,
  { known, moment }: { readonly known: Snapshot; readonly moment: string },
): Resource {
  const kindKey = kindKeyOf(resource);
  if (!kinds.has(kindKey)) return withFirstSeen(resource, undefined);
  const before = known.collections().get(kindKey)?.row(keyOfResource(resource));
  return withFirstSeen(resource, earlierMoment(before, resource) ?? moment);
}

/** A cluster as it was reported, with the moments of what is known of it from an earlier life of the server. */
export function withEarlierFirstSeenTimes(reported: Snapshot, earlier: Snapshot): Snapshot {
  const put: Resource[] = [];
  for (const [kindKey, objects] of earlier.collections()) {
    for (const before of objects) {
      const now = reported.collections().get(kindKey)?.row(keyOfResource(before));
      const moment = now === undefined ? undefined : earlierMoment(before, now);
      if (now !== undefined && moment !== undefined) put.push(withFirstSeen(now, moment));
    }
  }
  return put.length === 0 ? reported : reported.apply({ put, remove: [] });
}

function earlierMoment(before: Resource | undefined, now: Resource): string | undefined {
  if (before === undefined || before.metadata.creationTimestamp !== now.metadata.creationTimestamp) return undefined;
  // What statuses repeat of an object has no UID.
  const { uid = now.metadata.uid } = before.metadata;
  return uid === now.metadata.uid ? firstSeenOf(before) : undefined;
}
