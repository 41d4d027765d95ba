/** So many places. Who finds none waits in a line, in order of coming; the one who asks bounds the line. */
export interface Semaphore {
  /**
   * Calls `admit` when it is this one's turn: at once where a place is free. The returned function gives the place back, or leaves
   * the line; calling it again does nothing.
   */
  enter(admit: () => void): () => void;
  /** Has a place for as long as `work` takes, which begins at once where one is free. Rejects as `work` does. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** How many have a place. */
  readonly taken: number;
  /** How many wait. */
  readonly waiting: number;
}

/** A semaphore of which all `places` are free. */
export function semaphore(places: number): Semaphore {
  const line = new Set<() => void>();
  let taken = 0;

  function next(): void {
    const [first] = line;
    if (first !== undefined && taken < places) first();
  }

  function enter(admit: () => void): () => void {
    let state: "waiting" | "inside" | "gone" = "waiting";
    const enterNow = () => {
      line.delete(enterNow);
      state = "inside";
      taken++;
      admit();
    };
    line.add(enterNow);
    next();
    return () => {
      if (state === "inside") taken--;
      state = "gone";
      line.delete(enterNow);
      next();
    };
  }

  return {
    enter,
    run: (work) =>
      new Promise((resolve, reject) => {
        const leave = enter(() => {
          // What throws at once rejects too.
          const worked = (async () => work())();
          void worked.finally(() => leave()).then(resolve, reject);
        });
      }),
    get taken() {
      return taken;
    },
    get waiting() {
      return line.size;
    },
  };
}
