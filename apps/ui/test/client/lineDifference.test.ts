import fc from "fast-check";
import { expect, it } from "vitest";
import { lineDifference } from "../../client/model/lineDifference.ts";

const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 14 });
const textsOf = (all: ReturnType<typeof lineDifference>, sign: "+" | "-") =>
  all.flatMap((line) => ("sign" in line && (line.sign === sign || line.sign === " ") ? [line.text] : []));

it("gives the text before without what was added, and the text after without what was removed", () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const all = lineDifference(before, after, 100);
      const isSame = before.join() === after.join();
      expect(textsOf(all, "-")).toEqual(isSame ? [] : before);
      expect(textsOf(all, "+")).toEqual(isSame ? [] : after);
    }),
  );
});

it("leaves out lines that did not change, but for those around a change", () => {
  const before = Array.from({ length: 20 }, (_, i) => `line ${i}`);
  const after = before.map((line, i) => (i === 10 ? "another" : line));
  expect(lineDifference(before, after, 1)).toEqual([
    { count: 9 },
    { sign: " ", text: "line 9" },
    { sign: "-", text: "line 10" },
    { sign: "+", text: "another" },
    { sign: " ", text: "line 11" },
    { count: 8 },
  ]);
});

it("compares long texts that share nothing without trying each pair", () => {
  const before = Array.from({ length: 20_000 }, (_, i) => `was ${i}`);
  const after = Array.from({ length: 20_000 }, (_, i) => `is ${i}`);
  const all = lineDifference(before, after);
  expect(all.length).toBe(40_000);
  expect(all[0]).toEqual({ sign: "-", text: "was 0" });
  expect(all.at(-1)).toEqual({ sign: "+", text: "is 19999" });
});
