/** Numbers that look random and follow from a seed alone. */
export interface Random {
  /** 0..1, 1 excluded. */
  next(): number;
  /** 0..`below`, `below` excluded. */
  int(below: number): number;
  pick<T>(choices: readonly T[]): T;
}

/** Source: mulberry32 by Tommy Ettinger, in the public domain. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number) => Math.floor(next() * below);
  return {
    next,
    int,
    pick(choices) {
      const chosen = choices[int(choices.length)];
      if (chosen === undefined) throw new RangeError("there is nothing to pick from");
      return chosen;
    },
  };
}

/** The seed of schedule `run` (0 is the first) of a suite, such that the first has the suite's own seed. */
export function seedOfRun(seed: number, run: number): number {
  return (seed + Math.imul(run, 0x9e3779b1)) >>> 0;
}
