import { expect, it } from "vitest";
import { connectedGroups, packed } from "../../client/topology/packing.ts";

const box = { width: 200, height: 300 };

it("places two clusters beside each other, and many in rows about as wide as a screen", () => {
  expect(packed([box, box], 50)).toEqual([
    { x: 0, y: 0 },
    { x: 250, y: 0 },
  ]);
  const places = packed(
    Array.from({ length: 50 }, () => box),
    50,
  );
  const columns = new Set(places.map(({ x }) => x)).size;
  const rows = new Set(places.map(({ y }) => y)).size;
  expect(columns * rows).toBeGreaterThanOrEqual(50);
  expect((columns * 250) / (rows * 350)).toBeGreaterThan(1);
  expect((columns * 250) / (rows * 350)).toBeLessThan(2.5);
});

it("never places two over each other, whatever their sizes", () => {
  const sizes = Array.from({ length: 40 }, (_, i) => ({ width: 50 + ((i * 97) % 400), height: 30 + ((i * 61) % 700) }));
  const all = packed(sizes, 10).map((place, i) => ({ ...place, width: sizes[i]?.width ?? 0, height: sizes[i]?.height ?? 0 }));
  for (const [i, a] of all.entries()) {
    for (const b of all.slice(i + 1)) {
      expect(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y).toBe(true);
    }
  }
  expect(packed([], 10)).toEqual([]);
});

it("groups what is connected, also over others", () => {
  expect(
    connectedGroups(
      ["a", "b", "c", "d", "e"],
      [
        ["a", "c"],
        ["e", "c"],
        ["b", "b"],
        ["b", "unknown"],
      ],
    ),
  ).toEqual([["a", "c", "e"], ["b"], ["d"]]);
});
