import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SortedMap } from "../src/index.ts";

const changes = fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.option(fc.nat(), { nil: undefined })), { maxLength: 60 });

describe("sorted map", () => {
  it("is a sorted Map, whatever is done to it", () => {
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 12 }), (steps) => {
        const model = new Map<string, number>();
        let map = SortedMap.empty<number>();
        for (const step of steps) {
          for (const [key, value] of step) value === undefined ? model.delete(key) : model.set(key, value);
          map = map.update(step);
          const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
          expect([...map]).toEqual(sorted);
          expect(map.size).toBe(model.size);
          for (const [key, value] of sorted) expect(map.get(key)).toBe(value);
          for (const prefix of ["", "a", "ab"]) {
            expect(map.withPrefix(prefix)).toEqual(sorted.filter(([key]) => key.startsWith(prefix)).map(([, value]) => value));
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it("says the same with the keys of another map that went the same way, and keeps its own beside others", () => {
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 8 }), changes, (steps, later) => {
        let [map, other] = [SortedMap.empty<number>(), SortedMap.empty<string>()];
        for (const step of steps) {
          other = other.update(step.map(([key, value]) => [key, value === undefined ? undefined : `${value}`] as const));
          map = map.update(step).withKeysOf(other);
          expect([...map].map(([key, value]) => [key, `${value}`])).toEqual([...other]);
        }
        const changed = map.update(later);
        expect([...changed.withKeysOf(other)]).toEqual([...changed]);
      }),
    );
  });

  it("keeps order over many chunks, through bulk loads and single changes", () => {
    const key = (i: number) => `key-${String(i).padStart(6, "0")}`;
    let map = SortedMap.empty<number>().update(Array.from({ length: 20_000 }, (_, i) => [key((i * 7919) % 20_000), i] as const));
    for (let i = 0; i < 20_000; i += 3) map = map.update([[key(i), undefined]]);
    map = map.update([[key(3), -1]]);
    const keys = [...map].map(([k]) => k);
    expect(keys).toEqual([...keys].sort());
    expect(map.size).toBe(20_000 - 6_667 + 1);
    expect(map.get(key(3))).toBe(-1);
    expect(map.get(key(6))).toBeUndefined();
    expect(map.has(key(4))).toBe(true);
    expect(map.withPrefix("key-01000")).toHaveLength(7);
  });

  it("knows what changed, however one map came from the other", () => {
    const key = (i: number) => `key-${String(i).padStart(5, "0")}`;
    const large = SortedMap.empty<number>().update(Array.from({ length: 5_000 }, (_, i) => [key(i), i] as const));
    const edit = fc.tuple(fc.nat({ max: 6_000 }).map(key), fc.option(fc.nat(), { nil: undefined }));
    // The same key more than once, keys that are not there, values that are there already.
    const again = fc.tuple(
      fc.integer({ min: 4_995, max: 5_005 }).map(key),
      fc.option(fc.integer({ min: 4_995, max: 5_000 }), { nil: undefined }),
    );
    const few = fc.array(again, { maxLength: 20 });
    fc.assert(
      fc.property(
        fc.array(fc.array(edit, { maxLength: 4 }), { maxLength: 5 }),
        fc.array(edit, { maxLength: 900 }),
        few,
        (steps, bulk, last) => {
          const one = steps.reduce((map, step) => map.update(step), large);
          for (const [older, newer] of [
            [large, one],
            [one, one.update(last)],
            [one.update(last), one],
            [one, one.update(last).update(last)],
            [one, one.update(bulk)],
            [large.update(bulk), one],
            [SortedMap.empty<number>(), one],
            [one, SortedMap.empty<number>()],
          ] as const) {
            const left = new Map(older);
            const right = new Map(newer);
            const expected = [...new Set([...left.keys(), ...right.keys()])]
              .sort()
              .filter((each) => left.get(each) !== right.get(each))
              .map((each) => ({ key: each, before: left.get(each), after: right.get(each) }));
            expect(newer.changesSince(older)).toEqual(expected);
          }
        },
      ),
      { numRuns: runs(48) },
    );
  });

  it("leaves the map it came from as it was", () => {
    const before = SortedMap.empty<number>().update([["a", 1]]);
    const after = before.update([
      ["a", undefined],
      ["b", 2],
    ]);
    expect([...before]).toEqual([["a", 1]]);
    expect([...after]).toEqual([["b", 2]]);
  });
});
