import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { keptText } from "./keptText.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const MEBIBYTE = 1024 * 1024;

/** Bytes of the heap that are held by what `make` gives for each of 20 texts of 1 MiB. */
function heldBy(make: (text: string) => string): number {
  collect();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: 20 }, (_, i) => make(`${i}-`.padEnd(MEBIBYTE, "x")));
  collect();
  const held = process.memoryUsage().heapUsed - before;
  expect(kept).toHaveLength(20);
  return held;
}

test("what is kept of a long text does not keep it", () => {
  expect(
    heldBy((text) => text.slice(0, 64)),
    "this is what it is for",
  ).toBeGreaterThan(15 * MEBIBYTE);
  expect(heldBy((text) => keptText(text, 64))).toBeLessThan(MEBIBYTE);
  // The part that somebody else has cut.
  expect(heldBy((text) => keptText(text.slice(0, 64)))).toBeLessThan(MEBIBYTE);
  expect(heldBy((text) => keptText(text.split("-")[0] ?? ""))).toBeLessThan(MEBIBYTE);
});

test.each([
  ["", 3, ""],
  ["abc", 3, "abc"],
  ["abcd", 3, "abc"],
  ["abcd", 0, ""],
  ["ab😀", 4, "ab😀"],
  ["ab😀", 3, "ab"],
  ["\uFEFFab", 2, "\uFEFFa"],
  ["a\uD800b", 3, "a\uFFFDb"],
])("%j, at most %i: %j", (text, most, kept) => {
  expect(keptText(text, most)).toBe(kept);
});

test("without a limit it is the same text", () => {
  expect(keptText("ünï 𝔘")).toBe("ünï 𝔘");
});
