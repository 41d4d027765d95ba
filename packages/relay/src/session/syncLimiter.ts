import { type Clock, type Semaphore, semaphore } from "@isthmus/core";

/**
 * Lets agents in, so many at a time: what a server holds of an agent that reports everything (messages under way, a snapshot in
 * the making) is bounded by the number of places, not by how many agents come at once. The line is bounded by the number of streams.
 */
export type SyncLimiter = Pick<Semaphore, "enter" | "waiting">;

export interface SyncLimiterOptions {
  readonly places: number;
  readonly clock: Clock;
}

// A place is for bringing everything across, which takes seconds. An agent that cannot (it may not read some kind) or does not
// gives its place up after this time, and continues without one.
const PLACE_MS = 15_000;

/** An agent that is admitted has one of `places` until the function that `enter` gave is called, and for 15 s at most. */
export function startSyncLimiter({ places: count, clock }: SyncLimiterOptions): SyncLimiter {
  const places = semaphore(count);
  return {
    enter(admit) {
      const given = new AbortController();
      const giveBack = places.enter(() => {
        void clock.sleep(PLACE_MS, given.signal).then(leave, () => undefined);
        admit();
      });
      function leave(): void {
        given.abort();
        giveBack();
      }
      return leave;
    },
    get waiting() {
      return places.waiting;
    },
  };
}
