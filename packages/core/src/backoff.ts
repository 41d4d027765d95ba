/** Between which pauses, in ms, waiting grows. */
export interface BackoffRange {
  readonly firstMs: number;
  readonly lastMs: number;
}

/**
 * How long to wait before try `attempt` (1 is the first retry), in ms: doubles from `firstMs` to `lastMs`, with a jitter of half.
 * `random` gives 0..1.
 */
export function backoffMs(attempt: number, { firstMs, lastMs }: BackoffRange, random: () => number): number {
  // A shift beyond what any range holds, so that no attempt is too late for a number.
  const full = Math.min(lastMs, firstMs * 2 ** Math.min(attempt - 1, 30));
  return full / 2 + (full / 2) * random();
}
