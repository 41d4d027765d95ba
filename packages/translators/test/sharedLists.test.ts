import { expect, test } from "vitest";
import { sharedList } from "../src/sharedLists.ts";

test("lists of the same objects are one list, others are themselves", () => {
  const [a, b] = [{ name: "a" }, { name: "b" }];
  const list = [a, b];
  expect(sharedList(list)).toBe(list);
  expect(sharedList([a, b])).toBe(list);
  const shorter = [a];
  expect(sharedList(shorter)).toBe(shorter);
  expect(sharedList([a])).toBe(shorter);
  const likewise = [{ name: "a" }, b];
  expect(sharedList(likewise)).toBe(likewise);
  const none: object[] = [];
  expect(sharedList(none)).toBe(none);
});
