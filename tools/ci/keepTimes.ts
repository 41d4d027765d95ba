// `npm run test:times`: copies what test files took on this machine to tests/times.json, for the order of suites on a new one.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { printsUsage } from "../generatorUsage.ts";
import { longTests, realTests, shortTests } from "./testFiles.ts";
import { printedTimes, readTestTimes } from "./testTimes.ts";

if (!printsUsage("test:times", "\n  copies what test files took on this machine to tests/times.json")) {
  const root = process.cwd();
  const times = readTestTimes(root);
  // Those that `npm test` tries a part of are in both.
  const files = new Set([...shortTests(root), ...longTests(root), ...realTests(root)]);
  const ordered = [...files].flatMap((file) => (times[file] === undefined ? [] : [[file, times[file]] as const]));
  writeFileSync(join(root, "tests/times.json"), printedTimes(Object.fromEntries(ordered)));
  console.log(`${ordered.length} test files in tests/times.json`);
}
