import { createHash } from "node:crypto";
import type { FindingSeverity, ReportedFinding } from "@isthmus/insights/report";

/**
 * Findings as a code quality report of GitLab. Source: docs.gitlab.com, "Code Quality", "Code Quality report format". A finding without a place is about the input,
 * which GitLab knows as a path only.
 */
export function codeQuality(findings: readonly ReportedFinding[]): string {
  const seen = new Map<string, number>();
  const issues = findings.map(({ severity, code, message, file = INPUT, line = 1 }) => {
    // Without the line: what only moves is no new finding.
    const content = JSON.stringify([code, file, message]);
    const count = seen.get(content) ?? 0;
    seen.set(content, count + 1);
    const fingerprint = createHash("sha256")
      .update(`${content}${count === 0 ? "" : count}`)
      .digest("hex");
    return {
      description: message,
      check_name: code,
      fingerprint,
      severity: SEVERITIES[severity],
      location: { path: file, lines: { begin: line } },
    };
  });
  return `${JSON.stringify(issues, undefined, 2)}\n`;
}

const INPUT = ".";
const SEVERITIES: Readonly<Record<FindingSeverity, string>> = { info: "info", warning: "minor", error: "major" };
