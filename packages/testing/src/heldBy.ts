import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Bytes that are held by what `fill` gives, of the heap and of buffers beside it. It is run twice: what the first run compiles and caches is held by no store.
 */
export async function heldBy(fill: () => unknown): Promise<number> {
  // Only so is garbage collected when it is asked for.
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  await letGo(fill);
  await settled(collect);
  const before = used();
  const held = await fill();
  await settled(collect);
  const bytes = used() - before;
  if (held === undefined) throw new TypeError("what is filled has to be given back, so that it is still there");
  return bytes;
}

/** In a function of its own, of which nothing is left that refers to what was given. */
async function letGo(fill: () => unknown): Promise<void> {
  await fill();
}

/** A text of letters of one byte, of its own: no other one shares them. Default: 1 MiB, as one message may have. */
export function longText(i: number, letters = 1024 * 1024): string {
  return Buffer.from(`${i}-`.padEnd(letters, "x")).toString("latin1");
}

function used(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Buffers are swept beside what runs, after the garbage that refers to them: until no less is used than a moment before. */
async function settled(collect: () => void): Promise<void> {
  let last = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 50; i++) {
    collect();
    await sleep(10);
    const now = used();
    if (i > 2 && last - now < SETTLED_BYTES) return;
    last = now;
  }
}

const SETTLED_BYTES = 16 * 1024;
