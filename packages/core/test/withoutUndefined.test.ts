import fc from "fast-check";
import { expect, test } from "vitest";
import { withoutUndefined } from "../src/index.ts";

test("a record is the same, in the same order, without what is undefined", () => {
  const member = fc.oneof(fc.constant(undefined), fc.jsonValue());
  fc.assert(
    fc.property(fc.record({ a: member, b: member, c: member, d: member, e: member, f: member }, { requiredKeys: [] }), (record) => {
      const copy = withoutUndefined(record);
      expect(copy).not.toBe(record);
      expect(Object.entries(copy)).toStrictEqual(Object.entries(record).filter(([, value]) => value !== undefined));
    }),
  );
});
