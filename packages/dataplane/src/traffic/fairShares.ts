/** Something that namespaces ask for, with its size. */
export interface Shared {
  readonly namespaces: ReadonlySet<string>;
  readonly size: number;
}

/** What each namespace has of something that is bounded for each. */
export interface Shares {
  /** Counts it for that one of its namespaces that has the least; false where none of them has room: then nothing changes. */
  add(one: Shared): boolean;
}

/** With what is there already, which is counted even beyond the bound. */
export function fairShares(most: number, there: Iterable<Shared>): Shares {
  const taken = new Map<string, number>();

  function count({ namespaces, size }: Shared, bound: number): boolean {
    let least: readonly [namespace: string, taken: number] | undefined;
    for (const namespace of namespaces) {
      const own = taken.get(namespace) ?? 0;
      if (own < (least?.[1] ?? Number.POSITIVE_INFINITY)) least = [namespace, own];
    }
    if (least === undefined || least[1] + size > bound) return false;
    taken.set(least[0], least[1] + size);
    return true;
  }

  for (const one of there) count(one, Number.POSITIVE_INFINITY);
  return { add: (one) => count(one, most) };
}
