import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** What `.ci/totals.mjs` prints of results in files, and its exit code. */
function totalsOf(files: Readonly<Record<string, string>>): { readonly lines: readonly string[]; readonly code: number | null } {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-totals-"));
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { stdout, status } = spawnSync(process.execPath, [".ci/totals.mjs", folder], { encoding: "utf8", env: {} });
  return { lines: stdout.trim().split("\n"), code: status };
}

const passed = JSON.stringify({ numPassedTests: 7, numPendingTests: 1, numTodoTests: 0, testResults: [] });
const suites = { "test.status": "0\n", "test.vitest.json": passed, "check.status": "0\n" };
const results = ["check: 1 passed, 0 failed, 0 skipped", "test: 7 passed, 0 failed, 1 skipped"];

it("says how much processor time npm test took, and warns above the limit without failing", () => {
  const [check, test] = results;
  expect(totalsOf({ ...suites, "test.seconds": "150.25 20.10\n" })).toEqual({
    lines: [
      check,
      `${test} (170 s of processor time)`,
      "npm test took 170 s of processor time; the limit is 180 s",
      "8 passed, 0 failed, 1 skipped",
    ],
    code: 0,
  });
  expect(totalsOf({ ...suites, "test.seconds": "170.25 20.10\n" })).toEqual({
    lines: [
      check,
      `${test} (190 s of processor time)`,
      "WARNING: npm test took 190 s of processor time; the limit is 180 s",
      "8 passed, 0 failed, 1 skipped",
    ],
    code: 0,
  });
});

it("says nothing of it where it was not measured", () => {
  for (const files of [suites, { ...suites, "test.seconds": "bash: npm: command not found\n" }])
    expect(totalsOf(files)).toEqual({ lines: [...results, "8 passed, 0 failed, 1 skipped"], code: 0 });
});

it("fails where a suite failed", () => {
  expect(totalsOf({ ...suites, "test.status": "1\n" })).toEqual({
    lines: [results[0], "test: 7 passed, 1 failed, 1 skipped", "8 passed, 1 failed, 1 skipped"],
    code: 1,
  });
});
