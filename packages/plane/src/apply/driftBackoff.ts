import { type BackoffRange, doublingMs } from "@isthmus/core";

/**
 * Paces how often the same is written again over what somebody else wrote. A slip is put right at once; with somebody who
 * continues for ever (a second agent of the cluster, another controller) the pauses grow, so that the two don't keep an API server busy.
 */
export interface DriftBackoff {
  /** Whether it may be written again now; counts as done when it may. */
  mayRestore(key: string): boolean;
  /** Whether it had to wait of late: another writer changes it. */
  isInConflict(key: string): boolean;
  /** Something else is written, or nothing any more. */
  forget(key: string): void;
}

/** `now` gives milliseconds. */
export function driftBackoff(now: () => number): DriftBackoff {
  const done = new Map<string, { readonly count: number; readonly at: number }>();

  function recent(key: string): { readonly count: number; readonly at: number } | undefined {
    const last = done.get(key);
    if (last === undefined || now() - last.at < CALM_MS) return last;
    done.delete(key);
    return undefined;
  }

  return {
    mayRestore(key) {
      const last = recent(key);
      if (last !== undefined && now() - last.at < pauseAfter(last.count)) return false;
      done.set(key, { count: (last?.count ?? 0) + 1, at: now() });
      return true;
    },
    isInConflict: (key) => (recent(key)?.count ?? 0) > SLIPS,
    forget: (key) => void done.delete(key),
  };
}

function pauseAfter(count: number): number {
  return count < SLIPS ? 0 : doublingMs(count - SLIPS + 1, PAUSES);
}

// A person who tries something changes an object a few times; a program continues for ever.
const SLIPS = 5;
const PAUSES: BackoffRange = { firstMs: 1_000, lastMs: 60_000 };
// Longer than the longest pause, so that a conflict stays known.
const CALM_MS = 120_000;
