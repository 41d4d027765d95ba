/** How long to wait before try `attempt` (1 is the first retry): doubles from `firstMs` to `lastMs`, with a jitter of half. `random` gives 0..1. */
export function backoffMs(attempt: number, { firstMs, lastMs }: { firstMs: number; lastMs: number }, random: () => number): number {
  const full = Math.min(lastMs, firstMs * 2 ** Math.min(attempt - 1, 30));
  return full / 2 + (full / 2) * random();
}
