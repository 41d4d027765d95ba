import { expect, it } from "vitest";
import { SYNC_BOUNDS } from "../src/index.ts";
import { syncDurations } from "../src/server/statuses/syncDurations.ts";

it("are those of the last hour, of each cluster apart, and a clock that is set back hides none that were", () => {
  let now = 100 * 60_000;
  const durations = syncDurations({ now: () => now });
  const found = (name: string) => SYNC_BOUNDS.concat(Number.POSITIVE_INFINITY).filter((_, at) => (durations.lastHour(name)[at] ?? 0) > 0);
  durations.record("east", 3);
  durations.record("east", 90_000);
  durations.record("west", 1_500);
  expect(found("east")).toEqual([0.005, Number.POSITIVE_INFINITY]);
  expect(found("west")).toEqual([2.5]);
  now += 59 * 60_000;
  durations.record("east", 100);
  expect(found("east")).toEqual([0.005, 0.1, Number.POSITIVE_INFINITY]);
  now += 60_000;
  expect(found("east")).toEqual([0.1]);
  expect(found("west")).toEqual([]);
  durations.forget("east");
  expect(found("east")).toEqual([]);
});
