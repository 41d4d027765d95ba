import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { growingHeap } from "../src/index.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const GROWING = ["--heap-growing-percent=23", "--no-optimize-for-size"];
const TIDYING = ["--heap-growing-percent=6", "--optimize-for-size"];
const MINUTE = 60_000;
/** What is used, in MiB: so much that it may grow by 400 MiB and no more, and later by 6 % of it. */
const LARGE = 1_800;

test("memory is given back when nothing has been read for a while, not before, and again now and then", () => {
  const flags: string[] = [];
  const heap = growingHeap(
    (flag) => void flags.push(flag),
    () => LARGE,
  );
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
  const heap = growingHeap(
    (flag) => void flags.push(flag),
    () => LARGE,
  );
  heap.grew();
  vi.advanceTimersByTime(2.5 * MINUTE);
  heap.grew();
  expect(flags).toEqual([...GROWING, ...TIDYING, ...GROWING]);
  vi.advanceTimersByTime(2.5 * MINUTE);
  expect(flags.slice(-2)).toEqual(TIDYING);
});

test("after its end nothing is changed", () => {
  const flags: string[] = [];
  const heap = growingHeap(
    (flag) => void flags.push(flag),
    () => LARGE,
  );
  heap.grew();
  heap.stop();
  flags.length = 0;
  vi.advanceTimersByTime(60 * MINUTE);
  expect(flags).toEqual([]);
});

test("a small heap may grow by as much as 100 MiB are of it, and is not looked through more often for holes", () => {
  const flags: string[] = [];
  const heap = growingHeap(
    (flag) => void flags.push(flag),
    () => 80,
  );
  heap.grew();
  vi.advanceTimersByTime(2.5 * MINUTE);
  expect(flags).toEqual(["--heap-growing-percent=125", "--no-optimize-for-size", "--heap-growing-percent=125"]);
});

test("with each look it is asked again how much is used", () => {
  const flags: string[] = [];
  let used = 400;
  const heap = growingHeap(
    (flag) => void flags.push(flag),
    () => used,
  );
  heap.grew();
  vi.advanceTimersByTime(2 * MINUTE);
  // By half while clusters join, as that is less than 400 MiB.
  expect(flags).toEqual(["--heap-growing-percent=50", "--no-optimize-for-size", "--heap-growing-percent=25"]);
  used = LARGE;
  vi.advanceTimersByTime(6 * MINUTE);
  expect(flags.slice(-2)).toEqual(TIDYING);
});

test("V8 knows the options", () => {
  const options = [...GROWING, ...TIDYING, "--heap-growing-percent=125"];
  const { status, stderr } = spawnSync(process.execPath, [...options, "-e", ""], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
});
