import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { growingHeap } from "../src/index.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const GROWING = ["--heap-growing-percent=50", "--no-optimize-for-size"];
const TIDYING = ["--heap-growing-percent=6", "--optimize-for-size"];
const MINUTE = 60_000;

test("memory is given back when nothing has been read for a while, not before, and again now and then", () => {
  const flags: string[] = [];
  const heap = growingHeap((flag) => void flags.push(flag));
  for (let read = 0; read < 10; read++) {
    heap.grew();
    vi.advanceTimersByTime(1.5 * MINUTE);
  }
  expect(flags).toEqual(Array.from({ length: 10 }, () => GROWING).flat());

  flags.length = 0;
  vi.advanceTimersByTime(MINUTE);
  expect(flags).toEqual(TIDYING);
  vi.advanceTimersByTime(4 * MINUTE);
  expect(flags).toEqual([...TIDYING, "--no-optimize-for-size"]);
  vi.advanceTimersByTime(3 * MINUTE);
  expect(flags).toEqual([...TIDYING, "--no-optimize-for-size", ...TIDYING, "--no-optimize-for-size"]);
});

test("who reads again has the processor for it", () => {
  const flags: string[] = [];
  const heap = growingHeap((flag) => void flags.push(flag));
  heap.grew();
  vi.advanceTimersByTime(2.5 * MINUTE);
  heap.grew();
  expect(flags).toEqual([...GROWING, ...TIDYING, ...GROWING]);
  vi.advanceTimersByTime(2.5 * MINUTE);
  expect(flags.slice(-2)).toEqual(TIDYING);
});

test("after its end nothing is changed", () => {
  const flags: string[] = [];
  const heap = growingHeap((flag) => void flags.push(flag));
  heap.grew();
  heap.stop();
  flags.length = 0;
  vi.advanceTimersByTime(60 * MINUTE);
  expect(flags).toEqual([]);
});

test("V8 knows the options", () => {
  const options = [...GROWING, ...TIDYING];
  const { status, stderr } = spawnSync(process.execPath, [...options, "-e", ""], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
});
