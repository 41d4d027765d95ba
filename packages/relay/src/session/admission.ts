import type { Clock } from "@isthmus/core";

/**
 * Lets agents in, so many at a time: what a server holds of an agent that reports everything (messages under way, a snapshot in
 * the making) is bounded by the number of places, not by how many agents come at once. Who finds no place waits in a line, in
 * order of coming; the line is bounded by the number of streams.
 */
export interface Admission {
  /**
   * Calls `admit` when it is this one's turn: at once where a place is free. The returned function gives the place back, or leaves
   * the line; calling it again does nothing.
   */
  enter(admit: () => void): () => void;
  /** How many wait. */
  readonly waiting: number;
}

export interface AdmissionOptions {
  readonly places: number;
  readonly clock: Clock;
}

// A place is for bringing everything across, which takes seconds. An agent that cannot (it may not read some kind) or does not
// gives its place up after this time, and goes on without one.
const PLACE_MS = 15_000;

export function startAdmission({ places, clock }: AdmissionOptions): Admission {
  const line = new Set<() => void>();
  let taken = 0;

  function next(): void {
    const [first] = line;
    if (first !== undefined && taken < places) first();
  }

  return {
    enter(admit) {
      const given = new AbortController();
      let state: "waiting" | "inside" | "gone" = "waiting";
      const leave = () => {
        if (state === "inside") taken--;
        state = "gone";
        line.delete(enterNow);
        given.abort();
        next();
      };
      const enterNow = () => {
        line.delete(enterNow);
        state = "inside";
        taken++;
        void clock.sleep(PLACE_MS, given.signal).then(leave, () => undefined);
        admit();
      };
      line.add(enterNow);
      next();
      return leave;
    },
    get waiting() {
      return line.size;
    },
  };
}
