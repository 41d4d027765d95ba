import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Bytes of the heap that are held by what `make` gives, together, for 20 texts of 1 MiB each. A text is made of letters that differ, as one that
 * came from outside would be; what `make` gives for a text that it keeps whole is some 20 MiB.
 */
export function heldBytes(make: (text: string, i: number) => unknown): number {
  // Only so is garbage collected when it is asked for.
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  // What the first call compiles and caches is not held by texts.
  make("a".repeat(MEBIBYTE), -1);
  collect();
  const before = process.memoryUsage().heapUsed;
  const held = Array.from({ length: TEXTS }, (_, i) => make(`${i}-${"x".repeat(MEBIBYTE)}`, i));
  collect();
  const bytes = process.memoryUsage().heapUsed - before;
  if (held.length !== TEXTS) throw new TypeError("something was dropped");
  return bytes;
}

/** What 20 cut texts may hold: far less than one that is whole. */
export const MEBIBYTE = 1024 * 1024;
const TEXTS = 20;
