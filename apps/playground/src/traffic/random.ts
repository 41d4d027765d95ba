/** Numbers from 0 to 1, always the same ones for a seed. Source: Tommy Ettinger, mulberry32 (public domain). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One of the items, by their weights; undefined where none has any. */
export function weighted<T>(items: readonly T[], weightOf: (item: T) => number, random: () => number): T | undefined {
  const sum = items.reduce((total, item) => total + weightOf(item), 0);
  let left = random() * sum;
  return items.find((item) => {
    left -= weightOf(item);
    return left < 0;
  });
}
