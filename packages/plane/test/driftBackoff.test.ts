import { expect, test } from "vitest";
import { driftBackoff } from "../src/apply/driftBackoff.ts";

/** How long each of the first `count` writes has to wait for the one before, in milliseconds, in steps of 100. */
function pausesOf(count: number): readonly number[] {
  let now = 0;
  const backoff = driftBackoff(() => now);
  return Array.from({ length: count }, () => {
    const asked = now;
    while (!backoff.mayRestore("key")) now += 100;
    return now - asked;
  });
}

test("five slips are put right at once, then the pauses double up to the longest", () => {
  expect(pausesOf(14)).toEqual([0, 0, 0, 0, 0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
});
