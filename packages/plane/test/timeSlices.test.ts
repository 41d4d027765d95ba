import type { Clock, CooperativeTask } from "@isthmus/core";
import { expect, test } from "vitest";
import { runTimeSliced } from "../src/runtime/timeSlices.ts";

/** A clock in which each step of `counting` takes a millisecond. */
function clockOfSteps() {
  let now = 0;
  const slices: number[] = [];
  const clock: Clock = {
    now: () => now,
    async sleep(_, signal) {
      signal?.throwIfAborted();
      slices.push(now);
    },
  };
  function* counting(count: number): CooperativeTask<string> {
    for (let i = 0; i < count; i++) {
      now++;
      yield;
    }
    return "done";
  }
  return { clock, slices, counting, now: () => now };
}

test("work continues for a slice at a time", async () => {
  const { clock, slices, counting } = clockOfSteps();
  expect(await runTimeSliced(counting(17), { clock, sliceMs: 5 })).toBe("done");
  expect(slices).toEqual([5, 10, 15]);
});

test("with slices of no length, every step is one", async () => {
  const { clock, slices, counting } = clockOfSteps();
  await runTimeSliced(counting(4), { clock, sliceMs: 0 });
  expect(slices).toEqual([1, 2, 3, 4]);
});

test("what is aborted ends between two slices", async () => {
  const { clock, counting, now } = clockOfSteps();
  const life = new AbortController();
  life.abort(new Error("no more"));
  await expect(runTimeSliced(counting(17), { clock, sliceMs: 5 }, life.signal)).rejects.toThrow("no more");
  expect(now()).toBe(5);
});
