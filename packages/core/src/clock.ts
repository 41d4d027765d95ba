/** Time, so that tests can own it. Milliseconds since 1970. */
export interface Clock {
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Milliseconds since some moment, by a time that nobody sets. Default: nobody sets this clock. */
  uptime?(): number;
}

/** Milliseconds since some moment: tells how long something has lasted, whatever becomes of the date meanwhile. */
export function uptimeOf(clock: Clock): number {
  return clock.uptime?.() ?? clock.now();
}
