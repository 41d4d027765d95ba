import type { ExitCode } from "../../io.ts";
import { type CheckSeverity, SEVERITIES } from "./check.ts";
import type { CheckResult } from "./report.ts";

/** From which severity on a check fails. */
export type FailOn = CheckSeverity;

/** 1: something was found. 3: nothing was, but not everything could be read. */
export function checkExitCode(results: readonly CheckResult[], failOn: FailOn): ExitCode {
  const fails = results.some(({ findings }) => findings.some(({ severity }) => SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(failOn)));
  if (fails) return 1;
  return results.some(({ unread }) => unread !== undefined) ? 3 : 0;
}
