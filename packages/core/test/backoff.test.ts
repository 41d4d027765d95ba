import { expect, test } from "vitest";
import { backoffMs, doublingMs } from "../src/index.ts";

const RANGE = { firstMs: 100, lastMs: 1_000 };
const all = (attempts: readonly number[], random: number) => attempts.map((attempt) => backoffMs(attempt, RANGE, () => random));

test("pauses double from the first to the last, less up to a half", () => {
  expect(all([1, 2, 3, 4, 5, 6], 1)).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  expect(all([1, 2, 3, 4, 5, 6], 0)).toEqual([50, 100, 200, 400, 500, 500]);
  expect(all([1], 0.5)).toEqual([75]);
});

test("without jitter each pause is the full one", () => {
  expect([1, 2, 3, 4, 5, 1_025].map((attempt) => doublingMs(attempt, RANGE))).toEqual([100, 200, 400, 800, 1_000, 1_000]);
});

test("no attempt is too late for a number", () => {
  expect(all([32, 1_025, Number.MAX_SAFE_INTEGER], 1)).toEqual([1_000, 1_000, 1_000]);
});
