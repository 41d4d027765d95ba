import { type ResourceRef, resourceKeyOf } from "@isthmus/core";

/** One object that is to go, and why. */
export interface PlannedRemoval {
  readonly ref: ResourceRef;
  readonly reason: string;
  /** Somebody asked for it, by deleting or changing what asked for the object. Else something merely was not seen any more. */
  readonly isOnPurpose: boolean;
  /** The server cannot tell why the object is not desired: it is on hold until somebody approves, however few they are. */
  readonly isUnconfirmed?: boolean;
}

/**
 * Puts a mass deletion on hold: when more objects than the budget are to go within a minute, only because what they came from is
 * no longer seen, nothing of the kind goes until somebody says so. Source: decisions on safety, rule 3.
 */
export interface DeleteBudget {
  /** Gives those that may go now. `owned` is how many objects of ours the cluster holds. */
  admit(removals: readonly PlannedRemoval[], owned: number): readonly PlannedRemoval[];
  /** The object is desired again: it is not to go any more. */
  keep(ref: ResourceRef): void;
  /**
   * Somebody has looked and says that they may go: gives what was on hold. The server's word lets nothing go beyond the hourly
   * limit; that of the cluster's own operator lets all go, and counts from new.
   */
  resume(by: "server" | "cluster", owned: number): readonly PlannedRemoval[];
  /** What is on hold, by `resourceKeyOf`. */
  readonly held: ReadonlyMap<string, PlannedRemoval>;
  /** What of it the hourly limit holds back: the server's word does not let it go. */
  readonly sealed: ReadonlySet<string>;
  /** What of it is on hold because the server cannot tell why it is not desired; it holds nothing else up. */
  readonly unconfirmed: ReadonlySet<string>;
}

/** How much may go within a minute. */
export interface DeleteLimits {
  /** Of our objects in the cluster. */
  readonly percent: number;
  /** If that is more. */
  readonly objects: number;
}

/** Source: decisions on safety, rule 3. */
export const DELETE_LIMITS: DeleteLimits = { percent: 20, objects: 50 };

/** `now` gives milliseconds; `limits` count what merely is no longer seen, within a minute; `hourly` everything. Default: no hourly limit. */
export function deleteBudget(
  now: () => number,
  limits: () => DeleteLimits = () => DELETE_LIMITS,
  hourly: DeleteLimits | undefined = undefined,
): DeleteBudget {
  const held = new Map<string, PlannedRemoval>();
  const sealed = new Set<string>();
  const unconfirmed = new Set<string>();
  const unseen = window(now, MINUTE_MS);
  const all = window(now, HOUR_MS);

  function forget(ref: ResourceRef): void {
    const key = resourceKeyOf(ref);
    held.delete(key);
    sealed.delete(key);
    unconfirmed.delete(key);
  }

  /** What of `removals` the hourly limit lets go. */
  function withinHour(removals: readonly PlannedRemoval[], owned: number): readonly PlannedRemoval[] {
    if (hourly === undefined || removals.length === 0) return removals;
    if (!all.isAbove(hourly, removals.length, owned)) {
      all.add(removals.length);
      return removals;
    }
    for (const removal of removals) {
      const key = resourceKeyOf(removal.ref);
      held.set(key, removal);
      sealed.add(key);
    }
    return [];
  }

  /** What of `removals` the budget lets go. */
  function withinBudget(removals: readonly PlannedRemoval[], owned: number): readonly PlannedRemoval[] {
    const onPurpose = removals.filter(({ isOnPurpose }) => isOnPurpose);
    const counted = removals.filter(({ isOnPurpose, isUnconfirmed }) => !isOnPurpose && isUnconfirmed !== true);
    for (const { ref } of onPurpose) forget(ref);
    for (const removal of removals) if (!removal.isOnPurpose && removal.isUnconfirmed) holdUnconfirmed(removal);
    if (counted.length === 0) return onPurpose;
    if (held.size > unconfirmed.size || unseen.isAbove(limits(), counted.length, owned)) {
      for (const removal of counted) held.set(resourceKeyOf(removal.ref), removal);
      return onPurpose;
    }
    unseen.add(counted.length);
    return [...onPurpose, ...counted];
  }

  function holdUnconfirmed(removal: PlannedRemoval): void {
    const key = resourceKeyOf(removal.ref);
    held.set(key, removal);
    unconfirmed.add(key);
  }

  return {
    held,
    sealed,
    unconfirmed,
    admit: (removals, owned) => withinHour(withinBudget(removals, owned), owned),
    keep: forget,
    resume(by, owned) {
      const going = [...held].filter(([key]) => by === "cluster" || !sealed.has(key)).map(([, removal]) => removal);
      for (const { ref } of going) forget(ref);
      unseen.clear();
      if (by === "server") return withinHour(going, owned);
      all.clear();
      return going;
    },
  };
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Counts what went within the last `lengthMs`. */
function window(now: () => number, lengthMs: number) {
  let admitted: readonly { readonly at: number; readonly count: number }[] = [];
  return {
    /** Whether `count` more would be above the limit, of `owned` objects that there are now. */
    isAbove({ percent, objects }: DeleteLimits, count: number, owned: number): boolean {
      const at = now();
      admitted = admitted.filter((earlier) => at - earlier.at < lengthMs);
      const recent = admitted.reduce((sum, { count }) => sum + count, 0);
      // Recently admitted ones were part of the whole of which the share is taken.
      return recent + count > Math.max(objects, Math.floor(((owned + recent) * percent) / 100));
    },
    add(count: number): void {
      // Reported apart by the second: there are few entries, however many removals come.
      const at = Math.ceil(now() / SECOND_MS) * SECOND_MS;
      const last = admitted.at(-1);
      admitted = last?.at === at ? [...admitted.slice(0, -1), { at, count: last.count + count }] : [...admitted, { at, count }];
    },
    clear(): void {
      admitted = [];
    },
  };
}
