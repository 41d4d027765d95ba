import fc from "fast-check";
import { expect, it } from "vitest";
import { lineDifference, sideBySide } from "../../client/model/lines/lineDifference.ts";

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

it("puts what was removed beside what was added, and leaves nothing out", () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const pairs = sideBySide(lineDifference(before, after, 100)).flatMap((pair) => ("count" in pair ? [] : [pair]));
      const isSame = before.join() === after.join();
      expect(pairs.flatMap(({ before: text }) => text ?? [])).toEqual(isSame ? [] : before);
      expect(pairs.flatMap(({ after: text }) => text ?? [])).toEqual(isSame ? [] : after);
      for (const pair of pairs) if (!pair.isChanged) expect(pair.before).toBe(pair.after);
    }),
  );
  const lines4 = (text: string) => ["same", text, "end"];
  expect(sideBySide(lineDifference(lines4("weight: 100"), lines4("weight: 75")))).toEqual([
    { before: "same", after: "same", isChanged: false },
    { before: "weight: 100", after: "weight: 75", isChanged: true },
    { before: "end", after: "end", isChanged: false },
  ]);
});
