import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Bytes that are held by what `fill` gives, of the heap and of buffers beside it. It is run twice: what the first run compiles and caches is held by no store.
 */
export async function heldBy(fill: () => unknown): Promise<number> {
  // Only so is garbage collected when it is asked for.
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  await fill();
  await settled(collect);
  const before = used();
  const held = await fill();
  await settled(collect);
  const bytes = used() - before;
  if (held === undefined) throw new TypeError("what is filled has to be given back, so that it is still there");
  return bytes;
}

/** A text of letters of one byte, of its own: no other one shares them. Default: 1 MiB, as one message may have. */
export function longText(i: number, letters = 1024 * 1024): string {
  return Buffer.from(`${i}-`.padEnd(letters, "x")).toString("latin1");
}

function used(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Buffers are swept after the garbage that refers to them. */
async function settled(collect: () => void): Promise<void> {
  for (let i = 0; i < 3; i++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
