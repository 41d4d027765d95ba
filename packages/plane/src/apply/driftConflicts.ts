import { formatRef, type Resource, type ResourceRef } from "@isthmus/core";
import type { Rejection } from "@isthmus/ports";
import { differingFields } from "./differingFields.ts";
import { FIELD_MANAGER, otherManagersOf } from "./ownership.ts";

/**
 * Distinguishes a slip from a conflict. What somebody changed once is restored at once; an object that is changed again each time
 * that it was restored has another writer, and putting it back ever faster would only keep both busy.
 */
export interface DriftConflicts {
  /** The object says what `wanted` says. */
  holds(key: string, wanted: Resource): void;
  /** `wanted` is about to be written over `existing`; counts when the object said so before, and somebody has changed it since. */
  writing(key: string, wanted: Resource, existing: Resource | undefined): void;
  /** Whether another writer changes the object now. */
  isOver(key: string): boolean;
  /** What the other writer changed last, as paths; none when it deletes the object. */
  fieldsOf(key: string): readonly string[];
  /** The object is not desired any more. */
  forget(key: string): void;
}

/** `now` gives milliseconds. */
export function driftConflicts(now: () => number): DriftConflicts {
  const held = new Map<string, Resource>();
  const restored = new Map<string, { readonly count: number; readonly at: number; readonly fields: readonly string[] }>();

  function recent(key: string): number {
    const last = restored.get(key);
    if (last === undefined) return 0;
    if (now() - last.at < CALM_MS) return last.count;
    restored.delete(key);
    return 0;
  }

  return {
    holds: (key, wanted) => void held.set(key, wanted),
    writing(key, wanted, existing) {
      if (held.get(key) !== wanted) return;
      const fields = existing === undefined ? [] : differingFields(existing, wanted, MAX_PATHS);
      restored.set(key, { count: recent(key) + 1, at: now(), fields });
    },
    isOver: (key) => recent(key) >= SLIPS,
    fieldsOf: (key) => restored.get(key)?.fields ?? [],
    forget(key) {
      held.delete(key);
      restored.delete(key);
    },
  };
}

// A person who tries something changes an object a few times; a controller continues for ever.
const SLIPS = 5;
// Longer than the longest pause between two tries, so that a conflict stays known.
const CALM_MS = 120_000;

const MAX_PATHS = 3;

/** What the users' resources behind an object report of a conflict over it. `existing` is the object with its `managedFields`. */
export function driftConflictMessage(ref: ResourceRef, existing: Resource | undefined, fields: readonly string[]): Rejection {
  const others = otherManagersOf(existing);
  const who = others.length > 0 ? others.join(", ") : `another writer with the field manager ${FIELD_MANAGER}, possibly a second agent`;
  const what = fields.length === 0 ? formatRef(ref) : `${formatRef(ref)}, ${fields.join(", ")},`;
  return {
    ref,
    code: "Conflict",
    message: `${what} is repeatedly changed by ${who}; backing off: only one of the two should manage it`,
  };
}
