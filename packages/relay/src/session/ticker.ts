import { type Clock, uptimeOf } from "@isthmus/core";

export interface TickerOptions {
  readonly clock: Clock;
  /** When to call `due` next, by `uptimeOf`; undefined ends the ticker. */
  readonly wakeAt: () => number | undefined;
  readonly due: () => void;
}

/** A reason of its own: without one every message makes a DOMException, with its stack. */
const REARMED = new Error("another time is asked for");

/** Calls `due` at the times that `wakeAt` says, until the signal is aborted. `rearm` has `wakeAt` asked again. */
export function startTicker({ clock, wakeAt, due }: TickerOptions, signal: AbortSignal): { rearm(): void } {
  let sleeping = new AbortController();
  signal.addEventListener("abort", () => sleeping.abort(REARMED), { once: true });

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const at = wakeAt();
      if (at === undefined) return;
      sleeping = new AbortController();
      // Never at once: a time that stays in the past must not keep a processor busy.
      const isDue = await clock.sleep(Math.max(1, at - uptimeOf(clock)), sleeping.signal).then(
        () => true,
        () => false,
      );
      if (isDue && !signal.aborted) due();
    }
  }
  void run();

  return { rearm: () => sleeping.abort(REARMED) };
}
