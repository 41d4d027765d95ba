import { type Clock, onAbort } from "@isthmus/core";

/** Time that passes only when it is made to. */
export interface VirtualClock extends Clock {
  /**
   * Lets `ms` pass: the one who sleeps wakes in order of time, and all that follows from one waking happens before the next.
   * Not to be called again before it has settled.
   */
  advance(ms: number): Promise<void>;
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>;
  /** When the next sleeper wakes; undefined when nobody sleeps. */
  readonly next: number | undefined;
}

interface Sleeper {
  readonly due: number;
  /** Orders those that are due together. */
  readonly order: number;
  readonly wake: () => void;
}

/**
 * A clock that begins at `start`, in milliseconds since 1970. Default: 2025-01-01. `settled`: resolves when all that follows from a waking has
 * happened; one of another thread, such as cryptography, is not in the default.
 */
export function virtualClock(start = Date.UTC(2025, 0, 1), settled: () => Promise<void> = macrotask): VirtualClock {
  let now = start;
  let count = 0;
  // The last one is the next to wake.
  const sleepers: Sleeper[] = [];

  function insert(sleeper: Sleeper): void {
    let low = 0;
    let high = sleepers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isLater(sleepers[middle] as Sleeper, sleeper)) low = middle + 1;
      else high = middle;
    }
    sleepers.splice(low, 0, sleeper);
  }

  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const forget =
          signal &&
          onAbort(signal, () => {
            sleepers.splice(sleepers.indexOf(sleeper), 1);
            reject(signal.reason);
          });
        const wake = () => {
          forget?.();
          resolve();
        };
        const sleeper: Sleeper = { due: now + Math.max(0, ms), order: count++, wake };
        insert(sleeper);
      }),
    async advance(ms) {
      const end = now + ms;
      await settled();
      for (let next = sleepers.at(-1); next !== undefined && next.due <= end; next = sleepers.at(-1)) {
        sleepers.pop();
        now = next.due;
        next.wake();
        await settled();
      }
      now = end;
    },
    settle: settled,
    get next() {
      return sleepers.at(-1)?.due;
    },
  };
}

function isLater(a: Sleeper, b: Sleeper): boolean {
  return a.due > b.due || (a.due === b.due && a.order > b.order);
}

/** Resolves when every promise that could settle has settled: those come before the next task. */
export function macrotask(): Promise<void> {
  return new Promise((resolve) => {
    // A browser has no setImmediate, and would keep a nested timeout waiting.
    if (typeof setImmediate === "function") setImmediate(resolve);
    else nextMessage(resolve);
  });
}

function nextMessage(then: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener("message", () => {
    port1.close();
    then();
  });
  port1.start();
  port2.postMessage(undefined);
}
