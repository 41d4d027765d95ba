import { expect, test } from "vitest";
import { columnsOf, progressOn } from "../src/io.ts";

/** What a terminal gets of progress that is shown every 60 ms. */
function written(texts: readonly string[], terminal: { readonly isTTY?: boolean; readonly term?: string } = {}): string {
  const { isTTY = true, term = "xterm" } = terminal;
  let [out, now] = ["", 0];
  const progress = progressOn(
    {
      isTTY,
      write: (text) => {
        out += text;
      },
    },
    { term, now: () => now },
  );
  for (const text of texts) {
    progress(text);
    now += 60;
  }
  return out;
}

test("progress is written over what was shown before, ten times a second, and taken away at the end", () => {
  expect(written(["a", "b", "c", ""])).toBe("\r\u001b[Ka\r\u001b[Kc\r\u001b[K");
  expect(written([""])).toBe("");
});

test("progress is shown on terminals alone that can write over a line", () => {
  expect(written(["a", ""], { isTTY: false })).toBe("");
  expect(written(["a", ""], { term: "dumb" })).toBe("");
});

test.each([
  [{ isTTY: true, columns: 100 }, {}, { columns: 100 }],
  [{ isTTY: true, columns: 100 }, { COLUMNS: "80" }, { columns: 80 }],
  [{ isTTY: true, columns: 100 }, { COLUMNS: "wide" }, { columns: 100 }],
  [{ isTTY: true, columns: 0 }, { COLUMNS: "-1" }, {}],
  [{ columns: 100 }, { COLUMNS: "80" }, {}],
])("%j with %j has %j: data is cut on a terminal alone", (out, env, expected) => {
  expect(columnsOf(out, env)).toEqual(expected);
});
