import { expect, it } from "vitest";
import { changedAt, heightsOf } from "../../client/model/history/momentMarks.ts";

const [first, second, third] = ["2026-11-30T08:00:00Z", "2026-11-30T08:01:00Z", "2026-11-30T08:02:00Z"];
const changed = changedAt({
  moments: [
    { at: first, clusters: [] },
    {
      at: second,
      clusters: [
        { name: "", count: 1 },
        { name: "east", count: 2 },
      ],
    },
    { at: third, clusters: [{ name: "east", count: 1_000 }] },
  ],
});

it("counts what changed in all clusters", () => {
  expect([...changed.values()]).toEqual([0, 3, 1_000]);
});

it("marks each time at which something changed, the most the highest, and none too low to be seen", () => {
  const marks = heightsOf([first, second, third], changed);
  expect(marks.map(({ place }) => place)).toEqual([1, 2]);
  expect(marks[0]?.height).toBeGreaterThan(0.2);
  expect(marks[0]?.height).toBeLessThan(0.6);
  expect(marks[1]?.height).toBe(1);
  expect(heightsOf([first, second], new Map())).toEqual([]);
});
