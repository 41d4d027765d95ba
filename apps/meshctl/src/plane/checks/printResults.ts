import type { ExitCode, Io } from "../../io.ts";
import { yamlText } from "../../offline/yamlText.ts";
import { plainJson } from "../../output/plainText.ts";
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
  io.err(checkSummary(results));
  return checkExitCode(results, failOn);
}

function resultText(results: readonly CheckResult[], output: ResultOptions["output"], columns: number | undefined): string {
  if (output === "text") return checkText(results, columns);
  const value = plainJson({ checks: results });
  return output === "yaml" ? yamlText(value) : `${JSON.stringify(value, undefined, 2)}\n`;
}
