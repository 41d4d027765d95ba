import { describe, expect, it } from "vitest";
import { columnsText } from "../src/output/columns.ts";

const HEADERS = ["NAME", "CLUSTER", "STATE", "MESSAGE"];
const ROWS = [
  ["a-name-to-be-copied", "east", "VALID", "all is well"],
  ["b", "west", "EXPIRED", "renew it now with meshctl cert rotate"],
];

/** Lines of a table at a width. */
function lines(width: number | undefined, isSentenceLast: boolean): readonly string[] {
  return columnsText(HEADERS, ROWS, { width, isSentenceLast }).trimEnd().split("\n");
}

describe("a table", () => {
  it("is whole in a pipe, and where there is room", () => {
    const whole = lines(undefined, true);
    expect(whole[2]).toBe("b                     west      EXPIRED   renew it now with meshctl cert rotate");
    expect(lines(200, true)).toEqual(whole);
    expect(lines(Math.max(...whole.map(({ length }) => length)), false)).toEqual(whole);
  });

  it("cuts sentences first, then puts them below their rows", () => {
    expect(lines(60, true)[2]).toBe("b                     west      EXPIRED   renew it now with…");
    expect(lines(56, true)).toEqual([
      "NAME                  CLUSTER   STATE",
      "a-name-to-be-copied   east      VALID",
      "  all is well",
      "b                     west      EXPIRED",
      "  renew it now with meshctl cert rotate",
    ]);
  });

  it("leaves out columns from the right and names them, but never what tells rows apart", () => {
    expect(lines(40, false)).toEqual([
      "NAME                  CLUSTER   STATE",
      "a-name-to-be-copied   east      VALID",
      "b                     west      EXPIRED",
      "(no room for MESSAGE)",
    ]);
    expect(lines(5, false).slice(0, 2)).toEqual(["NAME                  CLUSTER", "a-name-to-be-copied   east"]);
  });

  it.each([40, 56, 60, 80])("is never wider than %d", (width) => {
    for (const isSentenceLast of [true, false])
      for (const line of lines(width, isSentenceLast)) expect(line.length, line).toBeLessThanOrEqual(width);
  });
});
