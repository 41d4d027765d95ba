import { type ResourceRef, resourceKeyOf } from "@isthmus/core";

/** One object that is to go, and why. */
export interface PlannedRemoval {
  readonly ref: ResourceRef;
  readonly reason: string;
  /** Somebody asked for it, by deleting or changing what asked for the object. Else something merely was not seen any more. */
  readonly isOnPurpose: boolean;
}

/**
 * Holds back a landslide: when more objects than the budget are to go within a minute, only because what they came from is
 * no longer seen, nothing of the kind goes until somebody says so. Source: decisions on safety, rule 3.
 */
export interface DeleteBudget {
  /** Gives those that may go now. `owned` is how many objects of ours the cluster holds. */
  admit(removals: readonly PlannedRemoval[], owned: number): readonly PlannedRemoval[];
  /** The object is wanted again: it is not to go any more. */
  wanted(ref: ResourceRef): void;
  /** Somebody has looked and says that they may go: gives all that was held back. */
  resume(): readonly PlannedRemoval[];
  /** What is held back, by `resourceKeyOf`. */
  readonly held: ReadonlyMap<string, PlannedRemoval>;
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

/** `now` gives milliseconds. */
export function deleteBudget(now: () => number, limits: () => DeleteLimits = () => DELETE_LIMITS): DeleteBudget {
  const held = new Map<string, PlannedRemoval>();
  /** When counted removals were admitted, and how many. */
  let admitted: readonly { readonly at: number; readonly count: number }[] = [];

  return {
    held,
    admit(removals, owned) {
      const onPurpose = removals.filter(({ isOnPurpose }) => isOnPurpose);
      const counted = removals.filter(({ isOnPurpose }) => !isOnPurpose);
      for (const { ref } of onPurpose) held.delete(resourceKeyOf(ref));
      if (counted.length === 0) return removals;
      const at = now();
      admitted = admitted.filter((earlier) => at - earlier.at < WINDOW_MS);
      const recent = admitted.reduce((sum, { count }) => sum + count, 0);
      // Recently admitted ones were part of the whole of which the share is taken.
      const { percent, objects } = limits();
      const limit = Math.max(objects, Math.floor(((owned + recent) * percent) / 100));
      if (held.size > 0 || recent + counted.length > limit) {
        for (const removal of counted) held.set(resourceKeyOf(removal.ref), removal);
        return onPurpose;
      }
      admitted = [...admitted, { at, count: counted.length }];
      return removals;
    },
    wanted(ref) {
      held.delete(resourceKeyOf(ref));
    },
    resume() {
      const all = [...held.values()];
      held.clear();
      admitted = [];
      return all;
    },
  };
}

const WINDOW_MS = 60_000;
