import { expect, test } from "vitest";
import { intern } from "../src/index.ts";

test("values that say the same are one", () => {
  const made = () => Object.freeze([Object.freeze({ name: "http", port: 80, hosts: Object.freeze(["a", "b"]) })]);
  const [first, second] = [made(), made()];
  expect(intern(first)).toBe(first);
  expect(intern(second)).toBe(first);
});

test("others are themselves, those that differ in their order, too", () => {
  const values = [{ a: 1, b: 1 }, { b: 1, a: 1 }, { a: 1 }, { a: "1" }, [{ a: 1 }], ["a", 1], [], {}];
  for (let times = 0; times < 3; times++)
    for (const value of values) expect(JSON.stringify(intern({ value }))).toBe(JSON.stringify({ value }));
});

test("values stay right when more have come than are remembered", () => {
  for (let i = 0; i < 20_000; i++) expect(intern({ number: i % 7_000 }).number).toBe(i % 7_000);
});
