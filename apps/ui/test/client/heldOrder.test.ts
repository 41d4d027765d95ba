import fc from "fast-check";
import { expect, it } from "vitest";
import { heldRows } from "../../client/model/heldOrder.ts";

const anyRows = fc.uniqueArray(fc.nat(12), { maxLength: 10 }).map((keys) => new Map(keys.map((key) => [`k${key}`, `${key}`])));

it("never moves a row, whatever comes and goes", () => {
  fc.assert(
    fc.property(anyRows, anyRows, (held, now) => {
      const { rows, added } = heldRows(held, now);
      expect(rows.map(({ key }) => key)).toEqual([...held.keys()]);
      expect(rows.filter(({ isGone }) => isGone).map(({ key }) => key)).toEqual([...held.keys()].filter((key) => !now.has(key)));
      expect(added).toBe([...now.keys()].filter((key) => !held.has(key)).length);
    }),
  );
});

it("shows new values in their places, and says when the order is another", () => {
  const held = new Map([
    ["a", 1],
    ["b", 2],
  ]);
  expect(
    heldRows(
      held,
      new Map([
        ["b", 5],
        ["a", 1],
        ["c", 9],
      ]),
    ),
  ).toEqual({
    rows: [
      { key: "a", row: 1, isGone: false },
      { key: "b", row: 5, isGone: false },
    ],
    added: 1,
    isReordered: true,
  });
  expect(heldRows(held, held).isReordered).toBe(false);
});
