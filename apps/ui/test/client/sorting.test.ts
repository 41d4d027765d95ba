import { expect, it } from "vitest";
import { type Column, sortedRows } from "../../client/components/table/tableColumns.ts";
import { formatSorting, nextSorting, parseSorting } from "../../client/model/sorting.ts";

interface Row {
  readonly name: string;
  readonly count: number;
}

const COLUMNS: readonly Column<Row>[] = [
  { id: "name", title: "Name", width: [1, 1], text: ({ name }) => name, cell: ({ name }) => name },
  { id: "count", title: "Count", width: [1, 1], text: () => "", sort: ({ count }) => count, cell: ({ count }) => count },
];
const ROWS: readonly Row[] = [
  { name: "b10", count: 1 },
  { name: "b9", count: 2 },
  { name: "a", count: 1 },
  { name: "c", count: 10 },
];
const namesBy = (sort: string | undefined) => sortedRows(ROWS, COLUMNS, sort).map(({ name }) => name);

it("sorts by several columns, numbers by size and names as people count", () => {
  expect(namesBy("name")).toEqual(["a", "b9", "b10", "c"]);
  expect(namesBy("count,-name")).toEqual(["b10", "a", "b9", "c"]);
  expect(namesBy("-count,name")).toEqual(["c", "b9", "a", "b10"]);
});

it("leaves rows as they are where an address asks for nothing that there is", () => {
  for (const sort of [undefined, "", "-", ",,-,", "constructor,__proto__"]) expect(namesBy(sort)).toEqual(["b10", "b9", "a", "c"]);
  expect(namesBy("nothing,name")).toEqual(["a", "b9", "b10", "c"]);
});

it("reads what it writes, each column once and four at most", () => {
  const text = "name,-count,-a,b";
  expect(formatSorting(parseSorting(text))).toBe(text);
  expect(formatSorting(parseSorting("name,-name,count,a,b,c"))).toBe("name,count,a,b");
  expect(formatSorting(parseSorting(undefined))).toBeUndefined();
});

it("goes from up to down to nothing, for one column or after others", () => {
  const after = (sort: string | undefined, column: string, isAdded: boolean) =>
    formatSorting(nextSorting(parseSorting(sort), column, isAdded));
  expect([undefined, "name", "-name", "count,-name"].map((sort) => after(sort, "name", false))).toEqual([
    "name",
    "-name",
    undefined,
    undefined,
  ]);
  expect(["count", "count,name", "count,-name", "name,count"].map((sort) => after(sort, "name", true))).toEqual([
    "count,name",
    "count,-name",
    "count",
    "-name,count",
  ]);
  expect(after("a,b,c,d", "name", true)).toBe("a,b,c,name");
});
