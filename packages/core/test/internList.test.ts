import { expect, test } from "vitest";
import { internList } from "../src/index.ts";

const [a, b, c] = [{ name: "a" }, { name: "b" }, { name: "c" }];

test("lists of the same objects are one list, others are themselves", () => {
  const list = [a, b];
  expect(internList(list)).toBe(list);
  expect(internList([a, b])).toBe(list);
  for (const other of [[a], [b], [b, a], [a, b, c], [{ name: "a" }, b], []]) {
    expect(internList(other)).toBe(other);
    expect(internList([...other])).toEqual(other);
  }
});

test("lists that begin alike, or end alike, do not take each other's place", () => {
  const lists = [
    [a, b],
    [a, c],
    [b, c],
  ];
  for (const list of lists) internList(list);
  for (const list of lists) expect(internList([...list])).toBe(list);
});

test("lists are found by what they were made of", () => {
  const [origin, another] = [{}, {}];
  const list = internList([a, b, c], origin);
  internList([a, c, b, c], another);
  expect(internList([a, b, c], origin)).toBe(list);
});
