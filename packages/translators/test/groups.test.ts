import { SortedMap } from "@isthmus/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { GroupEdits, type Groups } from "../src/incremental/groups.ts";

const name = fc.constantFrom("a", "b", "c");
const edit = fc.record({ group: name, key: name, value: fc.option(fc.nat(9), { nil: undefined }) });

test("groups hold what a map of maps would after any edits, and none that is empty", () => {
  fc.assert(
    fc.property(fc.array(fc.array(edit)), (rounds) => {
      let groups: Groups<number> = SortedMap.empty();
      const expected = new Map<string, Map<string, number>>();
      for (const edits of rounds) {
        const pending = new GroupEdits<number>();
        for (const { group, key, value } of edits) {
          pending.set(group, key, value);
          const entries = expected.get(group) ?? new Map<string, number>();
          expected.set(group, entries);
          if (value === undefined) entries.delete(key);
          else entries.set(key, value);
          if (entries.size === 0) expected.delete(group);
        }
        groups = pending.madeIn(groups);
      }
      const held = [...groups].map(([group, entries]) => [group, [...entries]]);
      const inOrder = [...expected].sort().map(([group, entries]) => [group, [...entries].sort()]);
      expect(held).toEqual(inOrder);
    }),
  );
});
