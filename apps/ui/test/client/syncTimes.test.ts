import { expect, it } from "vitest";
import { syncSpans } from "../../client/model/clusters/syncTimes.ts";

const syncBounds = [0.1, 0.5, 1, 5];

it("gives the spans from the quickest change to the slowest, those without one between them too", () => {
  expect(syncSpans({ sync: [0, 4, 0, 1, 0], syncBounds })).toEqual([
    { upTo: 0.5, count: 4 },
    { upTo: 1, count: 0 },
    { upTo: 5, count: 1 },
  ]);
});

it("has a last one for what took longer than all of them, and none where there was no change", () => {
  expect(syncSpans({ sync: [0, 0, 0, 0, 2], syncBounds })).toEqual([{ upTo: undefined, count: 2 }]);
  expect(syncSpans({ sync: [0, 0, 0, 0, 0], syncBounds })).toEqual([]);
});
