import { expect, it } from "vitest";
import type { FileResult, SuiteResult } from "./suiteResults.ts";
import { type RunResult, summaryOf } from "./summary.ts";

const passing: FileResult = {
  file: "a.test.ts",
  tests: [
    { name: "one", status: "passed" },
    { name: "two", status: "passed" },
  ],
};
const failing: FileResult = { file: "b.test.ts", tests: [{ name: "three", status: "failed", message: "\u001b[31mnot so\u001b[0m" }] };
const skipping: FileResult = { file: "c.test.ts", tests: [{ name: "four", status: "skipped" }] };
const suite = (...files: FileResult[]): SuiteResult => ({ name: "test:real", files, wallSeconds: 12, processorSeconds: 20 });
const summary = (run: Partial<RunResult>) =>
  summaryOf({
    suites: [],
    flaky: [],
    leftOut: new Map(),
    waiting: new Map(),
    quarantined: [],
    problems: [],
    measured: new Map(),
    wallSeconds: 100,
    wasCold: false,
    isCi: true,
    ...run,
  });

it("ends with the totals, after a line for each part and the budget", () => {
  const { lines, failed } = summary({ suites: [suite(passing)] });
  expect(lines).toEqual([
    "test:real: 2 passed, 0 failed, 0 skipped (12 s, 20 s of processor time)",
    "this run, warm took 100 s; the budget is 1800 s",
    "2 passed, 0 failed, 0 skipped",
  ]);
  expect(failed).toBe(false);
});

it("prints a failure again, and fails", () => {
  const { lines, failed } = summary({ suites: [suite(passing, failing)] });
  expect(lines.slice(0, 2)).toEqual(["FAILED in test:real: b.test.ts > three", "    not so"]);
  expect([lines.at(-1), failed]).toEqual(["2 passed, 1 failed, 0 skipped", true]);
  const broken: FileResult = { file: "d.test.ts", tests: [], problem: "no such module" };
  expect(summary({ suites: [suite(broken)] })).toMatchObject({
    lines: expect.arrayContaining(["0 passed, 1 failed, 0 skipped"]),
    failed: true,
  });
});

it("counts what passed with equal inputs as skipped, with its date, and allows that alone", () => {
  const record = { key: "k", date: "2026-11-28T10:00:00.000Z", commit: "d31072cf", tests: 9, read: { paths: [], hash: "" } };
  const { lines, failed } = summary({ suites: [suite(passing)], leftOut: new Map([["e.test.ts", record]]) });
  expect(lines[0]).toBe("equal inputs, 2026-11-28 (d31072cf): e.test.ts, 9 tests");
  expect([lines.at(-1), failed]).toEqual(["2 passed, 0 failed, 9 skipped", false]);
  const other = summary({ suites: [suite(passing, skipping)] });
  expect([other.lines.at(-1), other.failed]).toEqual(["2 passed, 0 failed, 1 skipped", true]);
  expect(summary({ suites: [suite(passing, skipping)], isCi: false }).failed).toBe(false);
});

it("counts what waits for its turn as skipped, apart from what passed with equal inputs", () => {
  const record = { key: "k", date: "2026-11-28T10:00:00.000Z", commit: "d31072cf", tests: 9, read: { paths: [], hash: "" } };
  const { lines, failed } = summary({ suites: [suite(passing)], waiting: new Map([["e.test.ts", record]]) });
  expect(lines[0]).toBe("its turn comes later; passed 2026-11-28 (d31072cf): e.test.ts, 9 tests");
  expect(lines).toContain("waiting for their turn: 9 skipped, in 1 test files that passed with other programs");
  expect([lines.at(-1), failed]).toEqual(["2 passed, 0 failed, 9 skipped", false]);
});

it("counts a failure in quarantine as skipped, and says it", () => {
  const quarantined = [{ file: "b.test.ts", test: "three", until: "2026-12-01", reason: "its wait is too short" }];
  const { lines, failed } = summary({ suites: [suite(passing, failing)], quarantined });
  expect(lines).toContain("FAILED in test:real (quarantine): b.test.ts > three");
  expect(lines).toContain("quarantine until 2026-12-01: b.test.ts > three: its wait is too short");
  expect([lines.at(-1), failed]).toEqual(["2 passed, 0 failed, 1 skipped", false]);
});

it("shows both runs of a flaky file, and counts the second", () => {
  const second: FileResult = { file: "b.test.ts", tests: [{ name: "three", status: "passed" }] };
  const { lines, failed } = summary({ suites: [suite(passing, second)], flaky: [{ first: failing, second }] });
  expect(lines.slice(0, 5)).toEqual([
    "flaky: b.test.ts failed, and passed when it ran once more, alone",
    "the first run: b.test.ts > three",
    "    not so",
    "the second run:",
    "    passed: three",
  ]);
  expect([lines.at(-1), failed]).toEqual(["3 passed, 0 failed, 0 skipped", false]);
});

it("fails by a problem of the run, and warns of time", () => {
  const { lines, failed } = summary({ suites: [suite(passing)], problems: ["a was flaky"], wallSeconds: 1_900 });
  expect(lines.slice(-3)).toEqual([
    "FAILED: a was flaky",
    "WARNING: this run, warm took 1900 s; the budget is 1800 s",
    "2 passed, 1 failed, 0 skipped",
  ]);
  expect(failed).toBe(true);
});
