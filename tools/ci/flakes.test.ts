import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { flakeProblems, isNeverRunAgain, type RunOfFlakes, readFlakes, writeFlakes } from "./flakes.ts";

const run = (...flaky: string[]): RunOfFlakes => ({ date: "2026-11-29T01:00:00.000Z", commit: "d31072cf", flaky });

it("lets two files of a run be flaky, and no third", () => {
  expect(flakeProblems(["a", "b"], [])).toEqual([]);
  expect(flakeProblems(["a", "b", "c"], [])).toEqual(["3 test files were flaky; a run may have 2"]);
});

it("lets no file be flaky twice within 20 runs", () => {
  const others = Array.from({ length: 18 }, () => run("other"));
  expect(flakeProblems(["a"], [run("a"), ...others])).toEqual([
    expect.stringContaining("a was flaky on 2026-11-29, too (commit d31072cf)"),
  ]);
  expect(flakeProblems(["a"], [run("a"), run(), ...others])).toEqual([]);
});

it("remembers runs in a file, also those without a flake, and reads over a line that is cut off", () => {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-flakes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "ci/flakes.jsonl");
  expect(readFlakes(path)).toEqual([]);
  for (const one of [run(), run("a")]) writeFlakes(path, one);
  expect(readFlakes(path)).toEqual([run(), run("a")]);
});

it("never runs again what draws its inputs, or is about faults and attacks", () => {
  const [steady, drawn] = [{ drawsSeed: false }, { drawsSeed: true }];
  expect(isNeverRunAgain("tests/real/drift.test.ts", steady)).toBe(false);
  expect(isNeverRunAgain("tests/real/drift.test.ts", drawn)).toBe(true);
  for (const file of [
    "tests/real/crashes.test.ts",
    "tests/real/redis/forgery.test.ts",
    "tests/faults/traces.long.test.ts",
    "tests/security/pem.long.test.ts",
    "packages/plane/test/standardTrustAttacks.long.test.ts",
  ])
    expect(isNeverRunAgain(file, steady), file).toBe(true);
});
