import { expect, it } from "vitest";
import { ALL_COLUMNS, type Column, gridOf, sparedIds } from "../../client/components/table/tableColumns.ts";

const column = (id: string, rem: number, spare?: number): Column<string> => ({
  id,
  title: id,
  width: [rem, 1],
  text: (row) => row,
  cell: (row) => row,
  ...(spare === undefined ? {} : { spare }),
});
const COLUMNS = [column("name", 10), column("age", 5, 2), column("cluster", 5, 1), column("message", 20)];
const spared = (width: number | undefined, hide?: string) => sparedIds(COLUMNS, { hide, width, remPx: 16, hasCopy: true });

it("leaves out of a narrow table what says least, and only as much as there is no room for", () => {
  // 41.6 rem and the gaps.
  expect(gridOf(COLUMNS, true).minWidth).toBe("calc(41.6rem + 76px)");
  expect(spared(742)).toEqual([]);
  expect(spared(741)).toEqual(["cluster"]);
  expect(spared(649)).toEqual(["cluster", "age"]);
  // The name and what is wrong stay, and the table scrolls.
  expect(spared(100)).toEqual(["cluster", "age"]);
});

it("leaves out nothing where somebody has chosen, or before it is known how wide the table is", () => {
  expect(spared(100, "age")).toEqual([]);
  expect(spared(100, ALL_COLUMNS)).toEqual([]);
  expect(spared(undefined)).toEqual([]);
});
