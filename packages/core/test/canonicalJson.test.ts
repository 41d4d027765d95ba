import { createHash } from "node:crypto";
import { anyText } from "@isthmus/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalJson, equalJson, MAX_DEPTH, sha256Hex } from "../src/index.ts";

/** The same value, the members of each object the other way round. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

it("gives equal values equal texts, whatever the order of their members, and others others", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      expect(canonicalJson(reversed(one))).toBe(canonicalJson(one));
      expect(equalJson(JSON.parse(canonicalJson(one)), JSON.parse(JSON.stringify(one)))).toBe(true);
      expect(canonicalJson(one) === canonicalJson(other)).toBe(
        equalJson(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other))),
      );
    }),
  );
});

it("looks at what is nested as deeply as an object may be no more often than at what is not", () => {
  let looks = 0;
  const innermost = {
    z: 1,
    get a() {
      looks++;
      // Twice as often at each level is more often than can be counted.
      if (looks > 2 * MAX_DEPTH) throw new Error("each level is looked at more than once");
      return 2;
    },
  };
  let nested: unknown = innermost;
  for (let depth = 1; depth < MAX_DEPTH; depth++) nested = { of: nested };
  expect(canonicalJson(nested)).toContain('{"a":2,"z":1}');
  expect(looks).toBe(1);
});

it("sha256Hex agrees with the platform's SHA-256", () => {
  fc.assert(
    fc.property(anyText(300), (text) => {
      expect(sha256Hex(text)).toBe(createHash("sha256").update(text, "utf8").digest("hex"));
    }),
  );
});
