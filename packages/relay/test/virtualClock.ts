import type { Clock } from "@isthmus/core";

/** A clock that moves only when a test moves it. */
export interface VirtualClock extends Clock {
  /** Moves on, waking sleepers in order and letting everything settle in between. */
  advance(ms: number): Promise<void>;
}

export function virtualClock(start = 1_700_000_000_000): VirtualClock {
  let now = start;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();

  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = {
          at: now + ms,
          wake() {
            signal?.removeEventListener("abort", aborted);
            resolve();
          },
        };
        const aborted = () => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", aborted, { once: true });
      }),
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        await settle();
        const next = [...sleepers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        sleepers.delete(next);
        now = Math.max(now, next.at);
        next.wake();
      }
      now = end;
      await settle();
    },
  };
}

/** Lets all that can happen without the passing of time happen. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}
