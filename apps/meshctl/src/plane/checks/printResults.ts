import type { ExitCode, Io } from "../../io.ts";
import { plainJson } from "../../output/plainText.ts";
import { checkExitCode, type FailOn } from "./exitCode.ts";
import { type CheckResult, checkSummary, checkText } from "./report.ts";

/** How results are printed. The exit code is the same for both. */
export interface ResultOptions {
  readonly output: "text" | "json";
  readonly failOn: FailOn;
}

/** Prints results on standard output, and the closing line beside it. */
export async function printResults(io: Io, results: readonly CheckResult[], { output, failOn }: ResultOptions): Promise<ExitCode> {
  const json = (): string => `${JSON.stringify(plainJson({ checks: results }), undefined, 2)}\n`;
  await io.out(output === "json" ? json() : checkText(results, io.columns));
  io.err(checkSummary(results));
  return checkExitCode(results, failOn);
}
