import type { ExitCode, Io } from "../../io.ts";
import { dataText } from "../dataText.ts";
import { checkExitCode, type FailOn } from "./exitCode.ts";
import { type CheckResult, checkSummary, checkText } from "./report.ts";

/** How results are printed. The exit code is the same for all. */
export interface ResultOptions {
  readonly output: "text" | "json" | "yaml";
  readonly failOn: FailOn;
}

/** Prints results on standard output, and the closing line beside it. */
export async function printResults(io: Io, results: readonly CheckResult[], { output, failOn }: ResultOptions): Promise<ExitCode> {
  await io.out(resultText(results, output, io.columns));
  io.note(checkSummary(results));
  return checkExitCode(results, failOn);
}

function resultText(results: readonly CheckResult[], output: ResultOptions["output"], columns: number | undefined): string {
  return output === "text" ? checkText(results, columns) : dataText({ checks: results }, output);
}
