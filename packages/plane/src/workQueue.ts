import { onAbort } from "@isthmus/core";
import { backoffMs } from "./backoff.ts";
import type { Clock } from "./ports.ts";

/**
 * Work on named things, a few at a time: the latest item of a name wins, so the queue is bounded by the number of names.
 * An item that must be tried again waits with growing backoff, unless a newer one of its name came.
 */
export interface WorkQueue<T> {
  set(key: string, item: T): void;
  delete(key: string): void;
  has(key: string): boolean;
  /** Whether nothing is left to be tried for the first time. */
  readonly isIdle: boolean;
  readonly sizes: WorkQueueSizes;
  readonly ended: Promise<void>;
}

/** How many items are to be worked on, are being worked on, and wait to be tried again. */
export interface WorkQueueSizes {
  readonly due: number;
  readonly running: number;
  readonly waiting: number;
}

export interface WorkQueueOptions<T> {
  /** How many items are worked on at once. */
  readonly workers: number;
  readonly retry: { readonly firstMs: number; readonly lastMs: number };
  /** Gives `again` for what the world refused. A throw is our fault and rejects `ended`. */
  readonly work: (key: string, item: T) => Promise<"done" | "again">;
  /** Called whenever the queue has become idle. */
  readonly idle?: () => void;
  readonly clock: Clock;
  readonly random: () => number;
}

export function startWorkQueue<T>(options: WorkQueueOptions<T>, signal: AbortSignal): WorkQueue<T> {
  const { workers, retry, work, idle, clock, random } = options;
  const due = new Map<string, T>();
  const waiting = new Map<string, { readonly item: T; readonly tries: number }>();
  const wakers = new Set<() => void>();
  /** Names that are being worked on: no two items of one name at once, or the older one might have the last word. */
  const running = new Set<string>();

  function set(key: string, item: T): void {
    due.set(key, item);
    for (const wake of wakers) wake();
  }

  async function attempt(key: string, item: T): Promise<void> {
    const tries = (waiting.get(key)?.tries ?? 0) + 1;
    waiting.delete(key);
    if ((await work(key, item)) === "done" || signal.aborted) return;
    waiting.set(key, { item, tries });
    void clock
      .sleep(backoffMs(tries, retry, random), signal)
      .then(() => {
        if (waiting.get(key)?.item === item && !due.has(key)) set(key, item);
      })
      // Aborted: nothing is to be tried any more.
      .catch(() => undefined);
  }

  function firstFree(): readonly [string, T] | undefined {
    for (const entry of due) if (!running.has(entry[0])) return entry;
    return undefined;
  }

  async function worker(): Promise<void> {
    while (!signal.aborted) {
      const next = firstFree();
      if (next === undefined) {
        await woken(wakers, signal);
        continue;
      }
      due.delete(next[0]);
      running.add(next[0]);
      try {
        await attempt(next[0], next[1]);
      } finally {
        running.delete(next[0]);
      }
      if (due.size === 0 && running.size === 0) idle?.();
    }
  }

  return {
    set,
    delete(key) {
      due.delete(key);
      waiting.delete(key);
    },
    has: (key) => due.has(key),
    get isIdle() {
      return due.size === 0 && running.size === 0;
    },
    get sizes() {
      return { due: due.size, running: running.size, waiting: waiting.size };
    },
    ended: Promise.all(Array.from({ length: workers }, worker)).then(() => undefined),
  };
}

function woken(wakers: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      wakers.delete(wake);
      forget();
      resolve();
    };
    wakers.add(wake);
    const forget = onAbort(signal, wake);
  });
}
