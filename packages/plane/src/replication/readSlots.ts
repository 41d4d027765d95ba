/**
 * Lets so many clusters be read at a time. Those that wait are called when there is room, and hold up nothing else meanwhile. No `semaphore`
 * of core: that one runs what waits itself, while here the call queues a cluster for its worker, which may come to it sooner for another
 * reason, and may then find that nothing is to be read: its place is free again without having been used.
 */
export interface ReadSlots {
  /** A cluster is worked on, for whatever reason: it needs no call any more. */
  started(clusterName: string): void;
  /** Reads it, or has it called later. */
  take(clusterName: string, read: () => Promise<void>): Promise<"done" | "later">;
  /** A cluster has been worked on. It may have been called, and not have been read. */
  finished(): void;
}

/** `call` asks for a cluster to be worked on. */
export function readSlots(limit: number, call: (clusterName: string) => void): ReadSlots {
  const running = new Set<string>();
  const called = new Set<string>();
  const waiting = new Set<string>();
  const isFull = () => running.size + called.size >= limit;

  function callNext(): void {
    const [next] = waiting;
    if (next === undefined || isFull()) return;
    waiting.delete(next);
    called.add(next);
    call(next);
  }

  return {
    started(clusterName) {
      waiting.delete(clusterName);
      called.delete(clusterName);
    },
    async take(clusterName, read) {
      if (isFull()) {
        waiting.add(clusterName);
        return "later";
      }
      running.add(clusterName);
      callNext();
      try {
        await read();
        return "done";
      } finally {
        running.delete(clusterName);
      }
    },
    finished: callNext,
  };
}
