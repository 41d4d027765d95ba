/**
 * How many targets a list in a status names at most: an object has to fit into what an API server stores (1.5 MiB), and the one who
 * watches it gets all of it each time. Counts beside the lists are of all.
 */
export const LISTED = 1_000;

/** Of workloads nothing else is said than that they are selected, and each that comes anywhere may be of every policy's list. */
const LISTED_WORKLOADS = 100;

// Thousands of policies may be about the same workloads, and each has its status in memory.
const firsts = new WeakMap<readonly string[], readonly string[]>();

/** The first `LISTED_WORKLOADS` of some keys: the same list for the same keys. */
export function firstListed(keys: readonly string[]): readonly string[] {
  if (keys.length <= LISTED_WORKLOADS) return keys;
  let first = firsts.get(keys);
  if (first === undefined) {
    first = keys.slice(0, LISTED_WORKLOADS);
    firsts.set(keys, first);
  }
  return first;
}

/**
 * No more than `LISTED` of some sorted keys, in their order: those that the first of `matters` is true of before those that the
 * second is true of, and so on, and the rest last.
 */
export function listedFirst(keys: readonly string[], matters: readonly ((key: string) => boolean)[]): readonly string[] {
  if (keys.length <= LISTED) return keys;
  const rank = (key: string) => {
    const found = matters.findIndex((isSo) => isSo(key));
    return found < 0 ? matters.length : found;
  };
  const byRank = new Map<number, string[]>();
  for (const key of keys) {
    const same = byRank.get(rank(key));
    if (same === undefined) byRank.set(rank(key), [key]);
    else same.push(key);
  }
  const inOrder = [...byRank].sort(([a], [b]) => a - b).flatMap(([, same]) => same);
  return inOrder.slice(0, LISTED).sort();
}
