import type { FindingSeverity, ReportedFinding } from "@isthmus/insights/report";
import { type Colors, type Io, outColors } from "../io.ts";
import { counted } from "./check.ts";
import { findingText } from "./findingFormats.ts";

/** Tells people the findings beside other data, one line each. */
export function printFindings(findings: readonly ReportedFinding[], io: Io): void {
  for (const line of linesOf(findings, io.colors)) io.err(line);
}

/** Prints the findings as the data that was asked for. */
export async function printFindingsAsData(findings: readonly ReportedFinding[], io: Io): Promise<void> {
  for (const line of linesOf(findings, outColors(io))) await io.out(line);
}

function linesOf(findings: readonly ReportedFinding[], { red, yellow, dim }: Colors): readonly string[] {
  const labels: Readonly<Record<FindingSeverity, string>> = {
    info: dim("info:"),
    warning: yellow("warning:"),
    error: red("error:"),
  };
  return findings.map((finding) => `${labels[finding.severity]} ${findingText(finding)}\n`);
}

/** `1 error, 2 warnings`. */
export function tally(findings: readonly ReportedFinding[]): string {
  const of = (severity: FindingSeverity) => findings.filter((finding) => finding.severity === severity).length;
  return `${counted(of("error"), "error")}, ${counted(of("warning"), "warning")}`;
}
