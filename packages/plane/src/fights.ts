import { formatRef, type Resource, type ResourceRef } from "@isthmus/core";
import { FIELD_MANAGER } from "./ownership.ts";
import type { Rejection } from "./ports.ts";

/**
 * Tells a slip from a fight. What somebody changed once is put back at once; an object that is changed again each time
 * that it was put back has another writer, and putting it back ever faster would only keep both busy.
 */
export interface Fights {
  /** The object says what `wanted` says. */
  holds(key: string, wanted: Resource): void;
  /** `wanted` is about to be written; counts when the object said so before, and somebody has changed it since. */
  writing(key: string, wanted: Resource): void;
  /** Whether somebody fights over the object now. */
  isOver(key: string): boolean;
}

/** `now` gives milliseconds. */
export function fights(now: () => number): Fights {
  const held = new Map<string, Resource>();
  const restored = new Map<string, { readonly count: number; readonly at: number }>();

  function recent(key: string): number {
    const last = restored.get(key);
    if (last === undefined) return 0;
    if (now() - last.at < CALM_MS) return last.count;
    restored.delete(key);
    return 0;
  }

  return {
    holds: (key, wanted) => void held.set(key, wanted),
    writing(key, wanted) {
      if (held.get(key) === wanted) restored.set(key, { count: recent(key) + 1, at: now() });
    },
    isOver: (key) => recent(key) >= SLIPS,
  };
}

// A person who tries something changes an object a few times; a controller goes on for ever.
const SLIPS = 5;
// Longer than the longest pause between two tries, so that a fight stays known.
const CALM_MS = 120_000;

/** What the users' resources behind an object are told of a fight over it. `existing` is the object with its `managedFields`. */
export function foughtOver(ref: ResourceRef, existing: Resource | undefined): Rejection {
  const managers = (existing?.metadata.managedFields ?? []).flatMap(({ manager }) => (typeof manager === "string" ? [manager] : []));
  const others = [...new Set(managers)].filter((manager) => manager !== FIELD_MANAGER);
  const who = others.length > 0 ? others.join(", ") : `another writer that calls itself ${FIELD_MANAGER}, perhaps a second agent`;
  return {
    ref,
    code: "Conflict",
    message: `${formatRef(ref)} is changed again and again by ${who}: it is put back less and less often; have one of the two leave it alone`,
  };
}
