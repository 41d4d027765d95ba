import fc from "fast-check";
import { expect, test } from "vitest";
import { type CooperativeTask, emptyTable, inKeyOrder, runToCompletion, withEach } from "../src/index.ts";

interface Row {
  readonly key: string;
  readonly group: string;
}

const byGroup = ({ group }: Row) => [group];

function rows(count: number): readonly (readonly [string, Row])[] {
  // Not in key order, as they come from elsewhere.
  return Array.from({ length: count }, (_, i) => {
    const key = `row-${String((i * 7919) % count).padStart(6, "0")}`;
    return [key, { key, group: `group-${i % 3}` }] as const;
  });
}

function counted<T>(steps: CooperativeTask<T>): { readonly value: T; readonly steps: number } {
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done === true) return { value: step.value, steps: count };
  }
}

test("many changes are made in steps, and are what they are at once", () => {
  const changes = rows(10_000);
  const { value, steps } = counted(
    withEach(
      emptyTable<Row>(({ key }) => key),
      changes,
    ),
  );
  expect(steps).toBeGreaterThan(3);
  expect([...value]).toEqual([...emptyTable<Row>(({ key }) => key).with(changes)]);
});

test("many changes of a table that holds more are made in shorter steps, and are what they are at once", () => {
  const table = emptyTable<Row>(({ key }) => key).with(rows(10_000));
  const changes = rows(3_000).map(([key, row], i) => [key, i % 5 === 0 ? undefined : { ...row, group: "group-9" }] as const);
  const { value, steps } = counted(withEach(table, changes));
  expect(steps).toBeGreaterThan(11);
  expect([...value]).toEqual([...table.with(changes)]);
});

test("of two changes of one key the last counts, however far apart", () => {
  const key = "row-000000";
  const removed = runToCompletion(
    withEach(
      emptyTable<Row>((row) => row.key),
      [...rows(5_000), [key, undefined]],
    ),
  );
  expect(removed.size).toBe(4_999);
  expect(removed.row(key)).toBeUndefined();
});

test("an index that was built in steps is the one that `where` would build, and follows changes", () => {
  const table = emptyTable<Row>(({ key }) => key).with(rows(10_000));
  const other = emptyTable<Row>(({ key }) => key).with(rows(10_000));
  expect(counted(table.indexed(byGroup)).steps).toBeGreaterThan(10);
  const change = [["row-000001", { key: "row-000001", group: "group-9" }]] as const;
  for (const group of ["group-0", "group-1", "group-2", "group-9"]) {
    expect(table.where(byGroup, group)).toEqual(other.where(byGroup, group));
    expect(table.with(change).where(byGroup, group)).toEqual(other.with(change).where(byGroup, group));
  }
});

test("indexes that are built together are those that `where` would build, also where one is there already or asked for meanwhile", () => {
  const byKey = ({ key }: Row) => [key];
  const byBoth = ({ key, group }: Row) => [key, group];
  const table = emptyTable<Row>(({ key }) => key).with(rows(3_000));
  const other = emptyTable<Row>(({ key }) => key).with(rows(3_000));
  table.where(byGroup, "group-0");
  const building = table.indexed(byGroup, byKey, byBoth);
  building.next();
  expect(table.where(byKey, "row-000007")).toHaveLength(1);
  runToCompletion(building);
  for (const value of ["group-0", "group-2", "row-000000", "row-002999", "nothing"]) {
    for (const index of [byGroup, byKey, byBoth]) expect(table.where(index, value)).toEqual(other.where(index, value));
  }
});

test("changes while an index is being built leave both right", () => {
  const table = emptyTable<Row>(({ key }) => key).with(rows(2_000));
  const building = table.indexed(byGroup);
  building.next();
  const changed = table.with([["row-000000", undefined]]);
  runToCompletion(building);
  expect(table.where(byGroup, "group-0")).toHaveLength(667);
  expect(changed.where(byGroup, "group-0")).toHaveLength(666);
});

test("entries that come in long runs, short ones or none are put in order, in steps, and those of one key stay in theirs", () => {
  const runs = fc.array(fc.tuple(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 7 }), fc.boolean()), { maxLength: 6 });
  fc.assert(
    fc.property(runs, (lengths) => {
      const entries = lengths.flatMap(([length, step, isRising], run) =>
        Array.from({ length }, (_, i): readonly [string, string] => {
          const key = String((isRising ? i : length - i) * step).padStart(6, "0");
          return [key, `${run}/${i}`];
        }),
      );
      const { value, steps } = counted(inKeyOrder(entries));
      expect(value).toEqual([...entries].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
      expect(steps).toBeGreaterThan(entries.length / 5_000);
    }),
    { numRuns: 30 },
  );
});
