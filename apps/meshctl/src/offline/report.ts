import type { Io } from "../io.ts";
import { counted } from "./check.ts";
import { findingText } from "./findingFormats.ts";
import type { OfflineFinding, Severity } from "./findings.ts";

/** Tells people the findings, one line each. */
export function printFindings(findings: readonly OfflineFinding[], io: Io): void {
  const labels: Readonly<Record<Severity, string>> = {
    note: io.colors.dim("note:"),
    warning: io.colors.yellow("warning:"),
    rejected: io.colors.red("rejected:"),
  };
  for (const finding of findings) io.err(`${labels[finding.severity]} ${findingText(finding)}\n`);
}

/** `1 rejected, 2 warnings`. */
export function tally(findings: readonly OfflineFinding[]): string {
  const of = (severity: Severity) => findings.filter((finding) => finding.severity === severity).length;
  return `${of("rejected")} rejected, ${counted(of("warning"), "warning")}`;
}
