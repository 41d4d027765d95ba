import fc from "fast-check";
import { expect, it } from "vitest";
import { emptyTable, type Index } from "../src/index.ts";

interface Row {
  readonly key: string;
  readonly tags: readonly string[];
}
const byTag: Index<Row> = ({ tags }) => tags;
const row = fc.record({
  key: fc.constantFrom("a", "b", "c", "d", "e", "f"),
  tags: fc.array(fc.constantFrom("x", "y", "z"), { maxLength: 3 }),
  gone: fc.boolean(),
});

const ofMany = fc.record({
  key: fc.nat({ max: 199 }).map((number) => `key-${number}`),
  tags: fc.constantFrom<readonly string[]>([], ["x"], ["x"], ["x", "y"], ["z"]),
  gone: fc.boolean(),
});

it.each([
  ["few rows", fc.array(fc.array(row, { maxLength: 5 }), { maxLength: 8 }), 300],
  ["many", fc.array(fc.array(ofMany, { maxLength: 150, size: "max" }), { maxLength: 8, size: "max" }), 60],
])("finds rows by index as a search through all of them would, however the table was made: %s", (_, changes, numRuns) => {
  fc.assert(
    fc.property(changes, fc.nat({ max: 8 }), (steps, firstAsked) => {
      let table = emptyTable<Row>(({ key }) => key);
      const model = new Map<string, Row>();
      steps.forEach((step, position) => {
        const before = new Map(table.entries());
        const edits = step.map(({ key, tags, gone }) => [key, gone ? undefined : { key, tags }] as const);
        for (const [key, value] of edits) value === undefined ? model.delete(key) : model.set(key, value);
        const older = table;
        // What snapshots are changed with is a map.
        table = table.with(position % 2 === 0 ? edits : new Map(edits));
        const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
        expect([...table.entries()]).toEqual(sorted);
        expect(table.size).toBe(model.size);
        for (const { key, before: left, after } of table.changesSince(older)) {
          expect(left).toBe(before.get(key));
          expect(after).toBe(model.get(key));
        }
        // An index may be asked for before or after the changes.
        if (position < firstAsked) return;
        for (const tag of ["x", "y", "z"]) {
          const found = sorted.map(([, value]) => value).filter(({ tags }) => tags.includes(tag));
          expect(table.where(byTag, tag)).toEqual(found);
          expect(table.where(byTag, tag).every((one) => model.get(one.key) === one)).toBe(true);
        }
      });
    }),
    { numRuns },
  );
});

it("is itself when a change changes nothing", () => {
  const one = { key: "a", tags: [] };
  const table = emptyTable<Row>(({ key }) => key).with([["a", one]]);
  expect(table.with([["a", one]])).toBe(table);
  expect(table.with([["b", undefined]])).toBe(table);
  expect(table.changesSince(table)).toEqual([]);
});
