import { emptySnapshot, emptyTable, runToCompletion, type Table } from "@isthmus/core";
import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { changesSince } from "../src/incremental/changes.ts";
import { derived, type RowSources, updated } from "../src/incremental/derived.ts";
import { inputTable, join } from "../src/incremental/join.ts";
import { entriesOf } from "../src/incremental/lookupTable.ts";
import { type EarlierRun, transition } from "../src/incremental/transition.ts";

/** A row of any table: what it asks for, what it is found under, and what it says. */
interface Row {
  readonly key: string;
  readonly asks: readonly string[];
  readonly names: readonly string[];
  readonly isAsking: boolean;
  readonly text: string;
}

interface FoundRow {
  readonly key: string;
  readonly text: string;
}

interface Tables {
  readonly first: Table<Row>;
  readonly second: Table<Row>;
  readonly third: Table<Row>;
  readonly map: ReadonlyMap<string, string>;
  readonly context: string;
}

const asks = ({ asks }: Row) => asks;
const names = ({ names }: Row) => names;
const keyOf = ({ key }: Row) => key;

const first = inputTable(({ first }: Tables) => first, keyOf);
const second = inputTable(({ second }: Tables) => second, keyOf);
const third = inputTable(({ third }: Tables) => third, keyOf);
const map = inputTable(
  ({ map }: Tables) => entriesOf(map),
  ({ key }) => key,
);

const found = join({ from: first, key: asks, to: second, index: names });
const text = join({ from: first, key: asks, to: second, index: names, select: ({ text }) => text });
const among = join({ from: first, key: asks, to: first, index: names });

const joins = {
  found,
  text,
  byKey: join({ from: first, key: asks, to: second }),
  byOwnKey: join({ from: first, to: second, index: names }),
  samePlace: join({ from: first, to: second }),
  asking: join({ from: first, key: asks, to: third, index: names, when: ({ isAsking }) => isAsking }),
  chain: join({ from: found.source, key: asks, to: third, index: names }),
  chainOfAsking: join({ from: text.source, key: asks, to: third, index: names, when: ({ isAsking }) => isAsking, isShared: true }),
  entries: join({ from: first, key: asks, to: map, select: ({ value }) => value }),
  entriesFurther: join({ from: found.source, to: map, select: ({ value }) => value }),
  back: join({ from: found.source, key: asks, to: first, index: names }),
  // Rows that find others of their own table, and themselves.
  amongThird: join({ from: among.source, key: asks, to: third, index: names }),
  amongEntries: join({ from: among.source, to: map, select: ({ value }) => value }),
};

/** What each row of the first table finds by one join. */
const byJoin = Object.values(joins).map((one) =>
  derived({
    from: first,
    context: ({ context }) => context,
    joins: { one },
    make: ({ key, text }, { lookup, context }): FoundRow => ({ key, text: JSON.stringify([text, context, lookup("one")]) }),
  }),
);

/** Rows that there are only where one of two joins finds something. */
const rowsOfAsking = {
  from: first,
  context: ({ context }: Tables) => context,
  joins: { asking: joins.asking, entries: joins.entries, chain: joins.chain },
  make: (
    { key, text }: Row,
    { lookup, context }: RowSources<Pick<typeof joins, "asking" | "entries" | "chain">, string, FoundRow>,
  ): FoundRow | undefined => {
    const [rows, entries] = [lookup("asking"), lookup("entries")];
    return rows.length + entries.length === 0 ? undefined : { key, text: JSON.stringify([text, context, rows, entries, lookup("chain")]) };
  },
};
const lookingAtAll = derived(rowsOfAsking);
const lookingWhereNeeded = derived({ ...rowsOfAsking, needsOneOf: ["asking", "entries"] });

const value = fc.constantFrom("a", "b", "c");
const values = fc.uniqueArray(value, { maxLength: 2 });
const content = fc.record({ asks: values, names: values, isAsking: fc.boolean(), text: fc.constantFrom("x", "y") });
const edit = fc.oneof(
  fc.record({ table: fc.constantFrom("first", "second", "third"), key: value, row: fc.option(content) }),
  fc.record({ table: fc.constant("map"), key: value, row: fc.option(content) }),
  fc.record({ table: fc.constant("context"), key: value, row: fc.constant(null) }),
);
const noRows = emptyTable<FoundRow>(({ key }) => key);
const nothing: Tables = { first: emptyTable(keyOf), second: emptyTable(keyOf), third: emptyTable(keyOf), map: new Map(), context: "" };

function edited(tables: Tables, { table, key, row }: typeof edit extends fc.Arbitrary<infer E> ? E : never): Tables {
  if (table === "context") return { ...tables, context: key };
  if (table === "map") {
    const others = [...tables.map].filter(([one]) => one !== key);
    return { ...tables, map: new Map(row === null ? others : [...others, [key, row.text]]) };
  }
  const name = table as "first" | "second" | "third";
  return { ...tables, [name]: tables[name].with([[key, row === null ? undefined : { key, ...row }]]) };
}

function earlier(before: Tables): EarlierRun<Tables> {
  return { before, changes: changesSince(emptySnapshot(), emptySnapshot()) };
}

test("after every change, rows that follow from it are those from scratch, whatever joins they are made of", () => {
  fc.assert(
    fc.property(fc.constantFrom(...byJoin), fc.array(fc.array(edit, { maxLength: 4 }), { maxLength: 12 }), (rows, rounds) => {
      let before: Tables | undefined;
      let now = nothing;
      let table = noRows;
      for (const edits of rounds) {
        before = now;
        const tableBefore = table;
        for (const one of edits) now = edited(now, one);
        const run = earlier(before);
        table = runToCompletion(updated(table, rows, transition(now, run)));
        expect(run.changes.between(table, tableBefore)).toEqual(table.changesSince(tableBefore));
        const scratch = runToCompletion(updated(noRows, rows, transition(now, undefined)));
        expect([...table.entries()]).toEqual([...scratch.entries()]);
      }
    }),
    { numRuns: runs(2000) },
  );
});

test("rows that need what a join finds are the same whether or not others are looked at while there is nothing to find", () => {
  fc.assert(
    fc.property(fc.array(fc.array(edit, { maxLength: 3 }), { maxLength: 12 }), (rounds) => {
      let now = nothing;
      let table = noRows;
      for (const edits of rounds) {
        const before = now;
        for (const one of edits) now = edited(now, one);
        table = runToCompletion(updated(table, lookingWhereNeeded, transition(now, earlier(before))));
        const scratch = (rows: typeof lookingAtAll) => [...runToCompletion(updated(noRows, rows, transition(now, undefined))).entries()];
        expect([...table.entries()]).toEqual(scratch(lookingAtAll));
        expect(scratch(lookingWhereNeeded)).toEqual(scratch(lookingAtAll));
      }
    }),
    { numRuns: runs(2000) },
  );
});

test("no row is looked at from scratch while there is nothing to find of what it needs", () => {
  const now = { ...nothing, first: nothing.first.with([["a", { key: "a", asks: ["v"], names: [], isAsking: true, text: "x" }]]) };
  expect([...runToCompletion(lookingAtAll.affected(transition(now, undefined)))]).toEqual(["a"]);
  expect([...runToCompletion(lookingWhereNeeded.affected(transition(now, undefined)))]).toEqual([]);
});

test("a change of what is not read affects nothing, nor one that nobody asks for", () => {
  const row = (key: string, over: Partial<Row> = {}): Row => ({ key, asks: [], names: [], isAsking: true, text: "x", ...over });
  const texts = derived({
    from: first,
    context: () => undefined,
    joins: { text },
    make: ({ key }, { lookup }) => ({ key, texts: lookup("text") }),
  });
  const before: Tables = {
    ...nothing,
    first: nothing.first.with([
      ["a", row("a", { asks: ["v"] })],
      ["b", row("b", { asks: ["w"] })],
    ]),
    second: nothing.second.with([["s", row("s", { names: ["v"] })]]),
  };
  const affected = (changed: Row) => {
    const now = { ...before, second: before.second.with([["s", changed]]) };
    return [...runToCompletion(texts.affected(transition(now, earlier(before))))];
  };
  expect(affected(row("s", { names: ["v"], isAsking: false }))).toEqual([]);
  expect(affected(row("s", { names: ["v"], text: "y" }))).toEqual(["a"]);
  expect(affected(row("s", { names: ["w"] }))).toEqual(["a", "b"]);
});

test("of two tables that became the same empty one, each has its own changes", () => {
  const { changes } = earlier(nothing);
  const of = (key: string) => noRows.with([[key, { key, text: "x" }]]);
  const [one, other] = [of("a"), of("b")];
  expect(changes.between(noRows, one).map(({ key }) => key)).toEqual(["a"]);
  expect(changes.between(noRows, other).map(({ key }) => key)).toEqual(["b"]);
});
