import { expect, test } from "vitest";
import { LISTED, listedFirst } from "./listed.ts";

const keys = Array.from({ length: LISTED + 500 }, (_, i) => `d${String(i).padStart(5, "0")}.shop.`);

test("few are listed all, in their order", () => {
  const few = keys.slice(0, LISTED);
  expect(listedFirst(few, [() => true])).toEqual(few);
});

test("of many, those that matter most are listed first, and the list keeps its order", () => {
  const isLast = (key: string) => key >= "d01490";
  const isLate = (key: string) => key >= "d01400";
  const listed = listedFirst(keys, [isLast, isLate]);
  expect(listed).toHaveLength(LISTED);
  expect(listed.filter(isLate)).toEqual(keys.filter(isLate));
  expect(listed.slice(0, 900)).toEqual(keys.slice(0, 900));
  expect(listed).toEqual([...listed].sort());
});

test("where more matter than are listed, those that matter most are", () => {
  const isLast = (key: string) => key >= "d01490";
  expect(listedFirst(keys, [isLast, () => true]).filter(isLast)).toHaveLength(10);
});
