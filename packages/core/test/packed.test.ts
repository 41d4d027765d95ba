import fc from "fast-check";
import { expect, test } from "vitest";
import { packed, packedWhere } from "../src/index.ts";

test("a packed record says the same, in the same order, without what is undefined", () => {
  const member = fc.oneof(fc.constant(undefined), fc.jsonValue());
  fc.assert(
    fc.property(fc.record({ a: member, b: member, c: member, d: member, e: member, f: member }, { requiredKeys: [] }), (record) => {
      const copy = packed(record);
      expect(copy).not.toBe(record);
      expect(Object.entries(copy)).toStrictEqual(Object.entries(record).filter(([, value]) => value !== undefined));
    }),
  );
});

test("records of one shape do not share what is in them", () => {
  const [one, other] = [packed({ a: 1, b: undefined }), packed({ a: "text" })];
  expect([one, other]).toStrictEqual([{ a: 1 }, { a: "text" }]);
});

test("who packs says what is kept", () => {
  expect(packedWhere({ a: 0, b: 1, c: "" }, Boolean)).toStrictEqual({ b: 1 });
});
