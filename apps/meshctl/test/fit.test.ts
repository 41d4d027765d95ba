import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boxedTable } from "../src/output/boxedTable.ts";
import { columnsText } from "../src/output/columns.ts";
import { fittedWidths, longestWord, wrapped } from "../src/output/fit.ts";

const word = fc.stringMatching(/^[a-z./-]{1,24}$/);
const sentence = fc.array(word, { maxLength: 8 }).map((words) => words.join(" "));

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** What stands between spaces and borders. */
function wordsIn(text: string): readonly string[] {
  return text.split(/[\s|+]+/).filter((part) => part !== "" && !/^-+$/.test(part));
}

describe("wrapping", () => {
  it.each([0, -1])("ends where a line has %i characters", (width) => {
    expect(wrapped("a bc", width)).toEqual(["a", "b", "c"]);
  });

  it("measures more lines than a call takes arguments", () => {
    const cell = Array.from({ length: 1_000 }, () => "x");
    const text = boxedTable(["A"], [...Array.from({ length: 300 }, () => [cell]), [["wide line"]]]);
    expect(text.slice(0, 14)).toBe("+-----------+\n");
    expect(text.length).toBeGreaterThan(300_000 * 14);
  });

  it("loses nothing, and splits no word that fits into a line", () => {
    const holds = fc.property(sentence, fc.integer({ min: 1, max: 60 }), (text, width) => {
      const lines = wrapped(text, width);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
      expect(lines.join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
      const parts = lines.flatMap((line) => line.split(" "));
      for (const each of text.split(" ")) if (each.length <= width) expect(parts).toContain(each);
    });
    fc.assert(holds);
  });

  it("breaks a longer word after a sign", () => {
    const path = "spec.policy.trafficShift.destinations[0].kubeService";
    expect(wrapped(path, 30)).toEqual(["spec.policy.trafficShift.", "destinations[0].kubeService"]);
    expect(wrapped("a-bcdefghijklmnop", 8)).toEqual(["a-bcdefg", "hijklmno", "p"]);
  });

  it("gives columns what there is, and none less than its least", () => {
    const columns = fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 20 })), { minLength: 1, maxLength: 6 });
    const holds = fc.property(columns, fc.nat(200), (given, available) => {
      const [widths, least] = [given.map(([width]) => width), given.map(([width, few]) => Math.min(width, few))];
      const fitted = fittedWidths(widths, available, least);
      expect(sum(fitted)).toBe(Math.max(sum(least), Math.min(sum(widths), available)));
      for (const [i, width] of fitted.entries()) {
        expect(width).toBeGreaterThanOrEqual(least[i] ?? 0);
        expect(width).toBeLessThanOrEqual(widths[i] ?? 0);
      }
    });
    fc.assert(holds);
  });
});

describe.each([80, 120])("a table in %d columns", (width) => {
  it("with borders is aligned, and splits no word where all fit", () => {
    const headers = ["METADATA", "HOST NAME", "STATUS"];
    const cell = fc.array(sentence, { minLength: 1, maxLength: 3 });
    const holds = fc.property(fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 4 }), (rows) => {
      const lines = boxedTable(headers, rows, width).trimEnd().split("\n");
      const borders = (line: string): readonly number[] => [...line].flatMap((character, i) => ("|+".includes(character) ? [i] : []));
      for (const line of lines) {
        expect(line.length).toBeLessThanOrEqual(width);
        expect(borders(line)).toEqual(borders(lines[0] ?? ""));
      }
      const longest = headers.map((header, i) => Math.max(...[header, ...rows.flatMap((row) => row[i] ?? [])].map(longestWord)));
      if (sum(longest) > width - 10) return;
      const shown = new Set(wordsIn(lines.join("\n")));
      for (const each of rows.flat(2).flatMap(wordsIn)) expect(shown).toContain(each);
    });
    fc.assert(holds);
  });

  it("without borders has each cell below its header, and splits no name", () => {
    const headers = ["NAME", "CLUSTER", "STATE", "MESSAGE"];
    const holds = fc.property(fc.array(fc.tuple(word, word, word, sentence), { minLength: 1, maxLength: 4 }), (rows) => {
      const lines = columnsText(headers, rows, { width, isSentenceLast: true }).split("\n");
      const starts = headers.slice(0, 3).map((header) => lines[0]?.indexOf(header) ?? 0);
      for (const [...row] of rows) {
        const isBelow = (line: string): boolean =>
          starts.every((start, i) => line.startsWith(row[i] ?? "", start) && line.slice(Math.max(0, start - 3), start).trim() === "");
        expect(lines.some(isBelow), row.join("; ")).toBe(true);
      }
    });
    fc.assert(holds);
  });
});
