import { expect, it } from "vitest";
import { countsOfLastLine } from "./suiteResults.ts";

it.for([
  ["done\n16 checks passed, 0 failed, in 41.2 s\n", true, { others: { passed: 16, failed: 0, skipped: 0 } }],
  ["60 equal, 5 different by decision, 0 failed\n", true, { others: { passed: 65, failed: 0, skipped: 0 } }],
  ["60 equal, 4 different by decision, 1 failed\n", false, { others: { passed: 64, failed: 1, skipped: 0 } }],
  ["0 passed, 0 failed, 1 skipped", true, { others: { passed: 0, failed: 0, skipped: 1 } }],
  ["2000 schedules, 0 violations\n", true, { others: { passed: 1, failed: 0, skipped: 0 }, note: "2000 schedules, 0 violations" }],
  ["said nothing of the kind\n", true, { others: { passed: 1, failed: 0, skipped: 0 } }],
  ["said nothing of the kind\n", false, { others: { passed: 0, failed: 1, skipped: 0 } }],
  ["3 passed, 0 failed, 0 skipped\n", false, { others: { passed: 3, failed: 1, skipped: 0 } }],
] as const)("counts %j", ([output, succeeded, counted]) => {
  expect(countsOfLastLine(output, succeeded)).toEqual(counted);
});
