import { type Clock, uptimeOf } from "@isthmus/core";

/** A token bucket: so many tokens a second, and as many at once after a quiet second. */
export interface Pace {
  /** Takes one, and waits until it is there. */
  turn(signal: AbortSignal | undefined): Promise<void>;
  /** Takes one without waiting, and leaves no debt. */
  count(): void;
}

/** The bucket begins full, with the tokens of one second. `turn` rejects with the reason of its signal, and its token stays taken. */
export function startPace(perSecond: number, clock: Clock): Pace {
  /** Up to when the allowance is used up; it does not grow for longer than a second. */
  let usedUntil = uptimeOf(clock) - 1000;

  function next(now: number): number {
    return Math.max(usedUntil, now - 1000) + 1000 / perSecond;
  }

  return {
    async turn(signal) {
      const now = uptimeOf(clock);
      usedUntil = next(now);
      if (usedUntil > now) await clock.sleep(usedUntil - now, signal);
    },
    count() {
      const now = uptimeOf(clock);
      usedUntil = Math.max(usedUntil, Math.min(next(now), now));
    },
  };
}
