import type { WrittenNotice } from "./partitionLoader.ts";

/**
 * Whether there is room for a notice of a write beside those that were received since a reading began. What has none is left out: the reading then misses a
 * write, ends with that, and begins again. Each notice may hold 4 MiB of objects of one cluster, so that a number alone would bound nothing.
 */
export function hasRoomFor(notice: WrittenNotice, received: readonly WrittenNotice[]): boolean {
  return received.length < MOST_RECEIVED && received.reduce((sum, one) => sum + lettersOf(one), lettersOf(notice)) <= MOST_LETTERS;
}

/** About as many as it holds. */
function lettersOf({ delta }: WrittenNotice): number {
  if (delta === undefined) return BESIDES;
  const { erase, remove, put } = delta;
  return (
    BESIDES +
    erase.reduce((sum, kindKey) => sum + kindKey.length, 0) +
    remove.reduce((sum, { kindKey, key }) => sum + kindKey.length + key.length, 0) +
    put.reduce((sum, { kindKey, key, text }) => sum + kindKey.length + key.length + text.length, 0)
  );
}

// Its head.
const BESIDES = 1_024;
// More is not written while a partition is read, or between two times that a reader looks.
const MOST_RECEIVED = 1_000;
const MOST_LETTERS = 32 * 1024 * 1024;
