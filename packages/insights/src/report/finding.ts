import { withoutHidden } from "@isthmus/core";

/** How much a finding weighs, on the scale of insights: `error` is not in force, `warning` is in force and something to know, `info` is about the input. */
export type FindingSeverity = "info" | "warning" | "error";

/** One finding, as other programs read it. */
export interface ReportedFinding {
  readonly severity: FindingSeverity;
  /** Stable: one of docs/reference/findings.md, or of docs/reference/insights.md. */
  readonly code: string;
  /** What, why, what to do: begins with the object where it is about one. */
  readonly message: string;
  /** Where it stands in the input; `line` counts from 1. */
  readonly file?: string;
  readonly line?: number;
}

/** A finding that somebody does not want to see. */
export interface SuppressedFinding extends ReportedFinding {
  /** Why: without it nothing is suppressed. */
  readonly reason: string;
  /** The last day, as YYYY-MM-DD. */
  readonly until?: string;
  /** Who says so: the `annotation` of the object that it is about, or something elsewhere. */
  readonly by: string;
}

/** A finding without what is hidden in it: files and messages have names and texts that others wrote, and logs are read on terminals. */
export function plainFinding({ message, file, ...finding }: ReportedFinding): ReportedFinding {
  return { ...finding, message: withoutHidden(message), ...(file === undefined ? {} : { file: withoutHidden(file) }) };
}

/** The same of one that is suppressed. */
export function plainSuppressed({ reason, until, by, ...finding }: SuppressedFinding): SuppressedFinding {
  const end = until === undefined ? {} : { until: withoutHidden(until) };
  return { ...plainFinding(finding), reason: withoutHidden(reason), by: withoutHidden(by), ...end };
}
