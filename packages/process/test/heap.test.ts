import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { growingHeap } from "../src/index.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const TIDYING = ["--optimize-for-size", "--heap-growing-percent=15"];

test("memory is given back when nothing has been read for a while, not before, and for a while only", () => {
  const flags: string[] = [];
  const heap = growingHeap((flag) => void flags.push(flag));
  for (let read = 0; read < 10; read++) {
    heap.grew();
    vi.advanceTimersByTime(20_000);
  }
  expect(flags).not.toContain(TIDYING[0]);

  flags.length = 0;
  vi.advanceTimersByTime(20_000);
  expect(flags).toEqual(TIDYING);
  vi.advanceTimersByTime(120_000);
  expect(flags).toEqual([...TIDYING, "--no-optimize-for-size"]);
});

test("who reads again has the processor for it", () => {
  const flags: string[] = [];
  const heap = growingHeap((flag) => void flags.push(flag));
  heap.grew();
  vi.advanceTimersByTime(40_000);
  heap.grew();
  expect(flags.slice(-3)).toEqual([...TIDYING, "--no-optimize-for-size"]);
  vi.advanceTimersByTime(40_000);
  expect(flags.slice(-2)).toEqual(TIDYING);
});

test("after its end nothing is changed", () => {
  const flags: string[] = [];
  const heap = growingHeap((flag) => void flags.push(flag));
  heap.grew();
  heap.stop();
  flags.length = 0;
  vi.advanceTimersByTime(300_000);
  expect(flags).toEqual([]);
});

test("V8 knows the options", () => {
  const options = [...TIDYING, "--no-optimize-for-size"];
  const { status, stderr } = spawnSync(process.execPath, [...options, "-e", ""], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
});
