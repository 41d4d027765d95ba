import { type BackoffRange, backoffMs, type Clock, onAbort } from "@isthmus/core";
import { turnsOf, type WorkOrder } from "./workOrder.ts";

/**
 * Work on named things, a few at a time: the latest item of a name wins, so the queue is bounded by the number of names.
 * An item that must be tried again waits with growing backoff, unless a newer one of its name came.
 */
export interface WorkQueue<T> {
  set(key: string, item: T): void;
  /** An item that is worked on just then ends as it may, and is not tried again. */
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
  /** Items that wait until nothing else is due. Default: none. */
  readonly isBulk?: (item: T) => boolean;
  /** Which items wait for others. Default: none. */
  readonly order?: WorkOrder<T>;
  readonly retry: BackoffRange;
  /** A throw is our fault and rejects `ended`. */
  readonly work: (key: string, item: T) => Promise<WorkOutcome>;
  /** Called whenever the queue has become idle. */
  readonly idle?: () => void;
  readonly clock: Clock;
  readonly random: () => number;
}

/** `again`: the world refused it, for at least `againAfterMs` where it said so. */
export type WorkOutcome = "done" | "again" | { readonly againAfterMs: number };

/** Starts with no item, and works until `signal` is aborted; what is due or waits by then is dropped. */
export function startWorkQueue<T>(options: WorkQueueOptions<T>, signal: AbortSignal): WorkQueue<T> {
  const { workers, retry, work, idle, isBulk = () => false, order = NO_ORDER, clock, random } = options;
  const due = new Map<string, T>();
  const waiting = new Map<string, { readonly item: T; readonly tries: number }>();
  const wakers = new Set<() => void>();
  /** Names that are being worked on: no two items of one name at once, or the older one might have the last word. */
  const running = new Set<string>();
  /** Of those, the ones that were deleted meanwhile: they are not tried again. */
  const withdrawn = new Set<string>();
  /** Names in the order in which they became due, and bulk after them. */
  const lanes = [nameQueue(), nameQueue()] as const;
  /** Names that had their turn while an older item of theirs was worked on. */
  const parked = new Set<string>();
  const turns = turnsOf<T>(order);

  function set(key: string, item: T): void {
    const before = due.get(key);
    due.set(key, item);
    const wasHeld = turns.set(key, item);
    if (before === undefined || wasHeld || isBulk(before) !== isBulk(item)) enqueue(key, item);
    release();
  }

  function enqueue(key: string, item: T): void {
    lanes[isBulk(item) ? 1 : 0].push(key);
    for (const wake of wakers) wake();
  }

  async function attempt(key: string, item: T): Promise<void> {
    const tries = (waiting.get(key)?.tries ?? 0) + 1;
    waiting.delete(key);
    const outcome = await work(key, item);
    const isWithdrawn = withdrawn.delete(key);
    if (outcome === "done" || isWithdrawn || signal.aborted) return;
    waiting.set(key, { item, tries });
    const leastMs = outcome === "again" ? 0 : outcome.againAfterMs;
    void clock
      .sleep(Math.max(leastMs, backoffMs(tries, retry, random)), signal)
      .then(() => {
        if (waiting.get(key)?.item === item && !due.has(key)) set(key, item);
      })
      // Aborted: nothing is to be tried any more.
      .catch(() => undefined);
  }

  /** Names may stand in a lane though they are done, removed, or now in the other lane: those are passed over. */
  function next(): readonly [string, T] | undefined {
    for (const [lane, names] of lanes.entries()) {
      for (let key = names.shift(); key !== undefined; key = names.shift()) {
        const item = due.get(key);
        if (item === undefined || (isBulk(item) ? 1 : 0) !== lane) continue;
        if (running.has(key)) parked.add(key);
        else if (!turns.holds(key, item)) return [key, item];
      }
    }
    return undefined;
  }

  /** Names that had to wait for others, and have not to any more. */
  function release(): void {
    for (const key of turns.released()) {
      const item = due.get(key);
      if (item !== undefined) enqueue(key, item);
    }
  }

  async function worker(): Promise<void> {
    while (!signal.aborted) {
      const first = next();
      if (first === undefined) {
        await woken(wakers, signal);
        continue;
      }
      const [key, item] = first;
      due.delete(key);
      running.add(key);
      const turn = turns.started(key);
      try {
        await attempt(key, item);
      } finally {
        running.delete(key);
        // One that was deleted after it was done says nothing of the next one.
        withdrawn.delete(key);
        const newer = due.get(key);
        if (parked.delete(key) && newer !== undefined) enqueue(key, newer);
        turns.finished(turn);
        release();
      }
      if (due.size === 0 && running.size === 0) idle?.();
    }
  }

  return {
    set,
    delete(key) {
      due.delete(key);
      waiting.delete(key);
      if (running.has(key)) withdrawn.add(key);
      turns.deleted(key);
      release();
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

const NO_ORDER: WorkOrder<unknown> = { groupOf: () => "", waitsFor: () => [] };

interface NameQueue {
  push(name: string): void;
  shift(): string | undefined;
}

/** First in, first out. A Map's first entry takes long to find after many were deleted, and so does an array's after `shift`. */
function nameQueue(): NameQueue {
  let names: string[] = [];
  let head = 0;
  return {
    push: (name) => void names.push(name),
    shift() {
      const name = names[head];
      if (name === undefined) [names, head] = [[], 0];
      else head++;
      // What has been taken is given back, at the cost of one copy for as many names.
      if (head >= MAX_TAKEN && head * 2 > names.length) [names, head] = [names.slice(head), 0];
      return name;
    },
  };
}

const MAX_TAKEN = 1024;

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
