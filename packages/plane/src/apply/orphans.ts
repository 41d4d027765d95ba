import { type Clock, type ResourceRef, resourceKeyOf, uptimeOf } from "@isthmus/core";

/**
 * Objects that bear our label, are not desired, and came to be after a complete set was carried out: restored by another
 * agent of this name that was cut off, or restored from a backup. They go, but not at once: an agent that does not know
 * yet that another one took its place would remove what that one has just made.
 */
export interface Orphans {
  seen(ref: ResourceRef): void;
  /** The object is gone, or desired after all. */
  remove(ref: ResourceRef): void;
  /** The connection, or what is desired, is another one: what was seen before says nothing any more. */
  clear(): void;
}

export interface OrphansOptions {
  readonly clock: Clock;
  /** Objects that have been orphans for long enough. */
  readonly due: (orphans: readonly Orphan[]) => void;
}

export interface Orphan {
  readonly ref: ResourceRef;
  /** By `uptimeOf`. */
  readonly since: number;
}

/** Hands an object to `due` 45 s after it was first seen, unless it was removed or cleared meanwhile; never after `signal` is aborted. */
export function orphans({ clock, due }: OrphansOptions, signal: AbortSignal): Orphans {
  const seen = new Map<string, Orphan>();
  let isWaiting = false;

  async function wait(): Promise<void> {
    isWaiting = true;
    for (let first = next(); first !== undefined && !signal.aborted; first = next()) {
      // Rejects only when there is nothing to do any more.
      await clock.sleep(Math.max(0, first.since + STRAY_MS - uptimeOf(clock)), signal).catch(() => undefined);
      if (signal.aborted) return;
      const now = uptimeOf(clock);
      const ripe = [...seen].filter(([, { since }]) => now >= since + STRAY_MS);
      for (const [key] of ripe) seen.delete(key);
      if (ripe.length > 0) due(ripe.map(([, orphan]) => orphan));
    }
    isWaiting = false;
  }

  /** The oldest: they were seen in this order. */
  function next(): Orphan | undefined {
    return seen.values().next().value;
  }

  return {
    seen(ref) {
      const key = resourceKeyOf(ref);
      if (!seen.has(key)) seen.set(key, { ref, since: uptimeOf(clock) });
      if (!isWaiting) void wait();
    },
    remove: (ref) => void seen.delete(resourceKeyOf(ref)),
    clear: () => seen.clear(),
  };
}

// An agent gives its connection up after three heartbeats without an answer, 30 s.
const STRAY_MS = 45_000;
