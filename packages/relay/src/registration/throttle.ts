import { type BackoffRange, doublingMs } from "@isthmus/core";

/** Slows down who fails again and again. Times are milliseconds since 1970. */
export interface Throttle {
  /** How long until a try under these keys is looked at; 0: now. */
  waitMs(keys: readonly string[], now: number): number;
  failed(keys: readonly string[], now: number): void;
  succeeded(keys: readonly string[]): void;
}

// A person who mistypes has a few tries; after that, guessing a random token is hopeless at one try a minute, and who has
// mended a mistake waits a minute at most.
const FREE_FAILURES = 5;
const PAUSES: BackoffRange = { firstMs: 1_000, lastMs: 60_000 };
const FORGOTTEN_AFTER_MS = 600_000;

/** Keys that are remembered; beyond it the one that failed longest ago is forgotten. */
const MAX_KEYS = 10_000;

/**
 * Five tries under a key fail without a pause; from then on each failure is followed by one, which doubles from 1 s to a minute. A key is
 * forgotten when it succeeds, 10 minutes after its last failure, or when 10,000 others have failed since.
 */
export function startThrottle(): Throttle {
  // In order of the last failure.
  const failures = new Map<string, { readonly count: number; readonly last: number }>();

  function pauseEnd(key: string, now: number): number {
    const entry = failures.get(key);
    if (entry === undefined || entry.count < FREE_FAILURES || now - entry.last > FORGOTTEN_AFTER_MS) return now;
    return entry.last + doublingMs(entry.count - FREE_FAILURES + 1, PAUSES);
  }

  return {
    waitMs: (keys, now) => Math.max(0, ...keys.map((key) => pauseEnd(key, now) - now)),
    failed(keys, now) {
      for (const key of keys) {
        const before = failures.get(key);
        const count = before === undefined || now - before.last > FORGOTTEN_AFTER_MS ? 0 : before.count;
        failures.delete(key);
        failures.set(key, { count: count + 1, last: now });
      }
      for (const key of failures.keys()) {
        if (failures.size <= MAX_KEYS) break;
        failures.delete(key);
      }
    },
    succeeded(keys) {
      for (const key of keys) failures.delete(key);
    },
  };
}
