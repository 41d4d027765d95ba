import { expect, test } from "vitest";
import { sharedList } from "../src/sharedLists.ts";

const [a, b, c] = [{ name: "a" }, { name: "b" }, { name: "c" }];

test("lists of the same objects are one list, others are themselves", () => {
  const list = [a, b];
  expect(sharedList(list)).toBe(list);
  expect(sharedList([a, b])).toBe(list);
  for (const other of [[a], [b], [b, a], [a, b, c], [{ name: "a" }, b], []]) {
    expect(sharedList(other)).toBe(other);
    expect(sharedList([...other])).toEqual(other);
  }
});

test("lists that begin alike, or end alike, do not take each other's place", () => {
  const lists = [
    [a, b],
    [a, c],
    [b, c],
  ];
  for (const list of lists) sharedList(list);
  for (const list of lists) expect(sharedList([...list])).toBe(list);
});

test("lists are found by what they were made of", () => {
  const [origin, another] = [{}, {}];
  const list = sharedList([a, b, c], origin);
  sharedList([a, c, b, c], another);
  expect(sharedList([a, b, c], origin)).toBe(list);
});
