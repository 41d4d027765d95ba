/** Between which pauses, in ms, waiting grows. */
export interface BackoffRange {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The pause, in ms, before try `attempt` (1 is the first retry) where nobody else waits at the same time: doubles from `firstMs` to `lastMs`. */
export function doublingMs(attempt: number, { firstMs, lastMs }: BackoffRange): number {
  // A shift beyond what any range holds, so that no attempt is too late for a number.
  return Math.min(lastMs, firstMs * 2 ** Math.min(attempt - 1, 30));
}

/**
 * How long to wait before try `attempt` (1 is the first retry), in ms: doubles from `firstMs` to `lastMs`, with a jitter of half.
 * `random` gives 0..1.
 */
export function backoffMs(attempt: number, range: BackoffRange, random: () => number): number {
  const full = doublingMs(attempt, range);
  return full / 2 + (full / 2) * random();
}
