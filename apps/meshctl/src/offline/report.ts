import type { FindingSeverity, ReportedFinding } from "@isthmus/insights/report";
import type { Io } from "../io.ts";
import { counted } from "./check.ts";
import { findingText } from "./findingFormats.ts";

/** Tells people the findings, one line each. */
export function printFindings(findings: readonly ReportedFinding[], io: Io): void {
  const labels: Readonly<Record<FindingSeverity, string>> = {
    note: io.colors.dim("note:"),
    warning: io.colors.yellow("warning:"),
    rejected: io.colors.red("rejected:"),
  };
  for (const finding of findings) io.err(`${labels[finding.severity]} ${findingText(finding)}\n`);
}

/** `1 rejected, 2 warnings`. */
export function tally(findings: readonly ReportedFinding[]): string {
  const of = (severity: FindingSeverity) => findings.filter((finding) => finding.severity === severity).length;
  return `${of("rejected")} rejected, ${counted(of("warning"), "warning")}`;
}
