import { type ResourceRef, resourceKeyOf } from "@isthmus/core";
import type { Rejection } from "@isthmus/ports";
import type { PlannedRemoval } from "../apply/deleteBudget.ts";
import { pendingDelete } from "../apply/pendingWrite.ts";

/** Deletes of objects that may not be written now. When they may, all are planned once more: those of a year of freezing are many at once. */
export interface PausedDeletes {
  /** Keeps aside what may not be deleted now, and gives the rest. */
  admit(planned: readonly PlannedRemoval[]): readonly PlannedRemoval[];
  has(key: string): boolean;
  /** The object is desired again, or is gone. */
  forget(ref: ResourceRef): void;
  /** What may be deleted by now; it is paused no longer. */
  release(): readonly PlannedRemoval[];
  /** Nothing is to be deleted any more. */
  clear(): void;
  readonly rejections: readonly Rejection[];
}

/** Keeps deletes that `mayWrite` forbids; it is asked at each call, so that a change of the mode counts from the next one on. */
export function pausedDeletes(mayWrite: (ref: ResourceRef) => boolean): PausedDeletes {
  const paused = new Map<string, PlannedRemoval>();
  return {
    admit(planned) {
      for (const removal of planned) {
        const key = resourceKeyOf(removal.ref);
        if (mayWrite(removal.ref)) paused.delete(key);
        else paused.set(key, removal);
      }
      return planned.filter(({ ref }) => mayWrite(ref));
    },
    has: (key) => paused.has(key),
    forget: (ref) => void paused.delete(resourceKeyOf(ref)),
    release() {
      const released = [...paused.values()].filter(({ ref }) => mayWrite(ref));
      for (const { ref } of released) paused.delete(resourceKeyOf(ref));
      return released;
    },
    clear: () => paused.clear(),
    get rejections() {
      return [...paused.values()].map(({ ref, reason }) => pendingDelete(ref, reason));
    },
  };
}
