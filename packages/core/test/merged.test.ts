import { expect, it } from "vitest";
import { merged } from "../src/merged.ts";

it("holds the members of both, the second's where both have one", () => {
  expect(merged({ a: 1, b: 1 }, { b: 2, c: 2 })).toEqual({ a: 1, b: 2, c: 2 });
});

it("takes a member called __proto__ for a member", () => {
  const given = JSON.parse('{"__proto__": {"isOwner": true}}') as object;
  for (const made of [merged(given, { a: 1 }), merged({ a: 1 }, given)]) {
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
    expect(Object.keys(made)).toContain("__proto__");
    expect("isOwner" in made).toBe(false);
  }
});
