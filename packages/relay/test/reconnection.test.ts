import { expect, test } from "vitest";
import { reconnectMs } from "../src/session/reconnection.ts";

const pauses = (code: Parameters<typeof reconnectMs>[1], random: number) =>
  [1, 2, 3, 4, 5, 1_000].map((attempt) => reconnectMs(attempt, code, () => random));

test("an agent waits for one second to thirty before it connects again", () => {
  expect(pauses("Ended", 0)).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  expect(pauses("Ended", 1)).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

test("what a person has to mend waits longest at once", () => {
  expect(pauses("WrongToken", 0)).toEqual(Array(6).fill(15_000));
  expect(pauses("WrongToken", 1)).toEqual(Array(6).fill(30_000));
});
