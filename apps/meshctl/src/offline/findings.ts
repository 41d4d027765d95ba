import { formatRef, type Report, type ResourceRef, resourceKeyOf } from "@isthmus/core";
import type { UserObjectStatusUpdate } from "@isthmus/translators";
import type { Intake, Note, RejectedObject } from "./intake.ts";

/** How much a finding weighs: `rejected` is not in force, `warning` is in force and something to know, `note` is about the input. */
export type Severity = "note" | "warning" | "rejected";

/** One finding of an offline check. */
export interface OfflineFinding {
  readonly severity: Severity;
  /** Stable: one of docs/reference/findings.md. */
  readonly code: string;
  /** What, why, what to do: begins with the object where it is about one. */
  readonly message: string;
  /** Where it stands in the input; `line` counts from 1. */
  readonly file?: string;
  readonly line?: number;
}

/** A finding that somebody does not want to see. */
export interface SuppressedFinding extends OfflineFinding {
  /** Why: without it nothing is suppressed. */
  readonly reason: string;
  /** The last day, as YYYY-MM-DD. */
  readonly until?: string;
  /** Who says so: the `annotation` of the object that it is about, or something elsewhere. */
  readonly by: string;
}

/** Where a line of text says it stands. */
export function placeText({ file, line }: Pick<OfflineFinding, "file" | "line">): string {
  if (file === undefined) return "";
  return line === undefined ? `${file}: ` : `${file}:${line}: `;
}

/** All findings: notes first, then warnings, then what is rejected, each in the order in which it was found. */
export function offlineFindings(
  { notes, rejected, sourceOf }: Pick<Intake, "notes" | "rejected" | "sourceOf">,
  reports: readonly Report[],
): readonly OfflineFinding[] {
  const ofReports = reportFindings(reports, sourceOf);
  return [
    ...notes.map(noteFinding),
    ...ofReports.filter(({ severity }) => severity === "warning"),
    ...rejected.flatMap(rejectedFindings),
    ...ofReports.filter(({ severity }) => severity === "rejected"),
  ];
}

function noteFinding({ code, message, file }: Note): OfflineFinding {
  return { severity: "note", code, message, ...(file === undefined ? {} : { file }) };
}

function rejectedFindings({ code, problems }: RejectedObject): readonly OfflineFinding[] {
  return problems.map(({ message, source }) => ({ severity: "rejected", code, message, ...placeIn(source) }));
}

/** What is said of many targets of one resource in the same words is one finding. */
function reportFindings(reports: readonly Report[], sourceOf: Intake["sourceOf"]): readonly OfflineFinding[] {
  const groups = new Map<string, { readonly report: Report; readonly targets: ResourceRef[] }>();
  for (const report of reports) {
    if (report.state === "ACCEPTED") continue;
    const key = [resourceKeyOf(report.subject), report.state, report.message].join("\n");
    const group = groups.get(key) ?? { report, targets: [] };
    groups.set(key, group);
    if (report.target !== undefined) group.targets.push(report.target);
  }
  return [...groups.values()].map(({ report, targets }) => ({
    severity: isRejected(report.state) ? "rejected" : "warning",
    code: report.code,
    message: `${formatRef(report.subject)}: ${report.message}${on(targets)}`,
    ...placeOf(report, sourceOf),
  }));
}

/** What statuses say of whole objects and no report has said. */
export function statusReports(statuses: readonly UserObjectStatusUpdate[], reports: readonly Report[]): readonly Report[] {
  const said = new Set(reports.map(({ subject, message }) => `${resourceKeyOf(subject)}\n${message}`));
  return statuses.flatMap(({ ref, status }) =>
    (["errors", "warnings"] as const).flatMap((field) =>
      textsIn(status[field])
        .filter((message) => !said.has(`${resourceKeyOf(ref)}\n${message}`))
        .map((message): Report => ({ subject: ref, state: field === "errors" ? "INVALID" : "WARNING", code: "Status", message })),
    ),
  );
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}

/** Whether a state means that something is not in force. */
function isRejected(state: unknown): boolean {
  return state === "INVALID" || state === "FAILED";
}

/** The field that a message is about, with which it begins; "" where it is about the object. */
export function fieldOf(message: string): string {
  return /^(?:spec|metadata|status)(?:\.\w+|\[\d+\])*(?=: )/.exec(message)?.[0] ?? "";
}

/** The line of the field, where there is one. */
function placeOf({ subject, message }: Report, sourceOf: Intake["sourceOf"]): Pick<OfflineFinding, "file" | "line"> {
  const source = sourceOf(subject, fieldOf(message));
  return source === undefined ? {} : placeIn(source);
}

/** `policies.yaml:14` as file and line. */
export function placeIn(source: string): Pick<OfflineFinding, "file" | "line"> {
  const colon = source.lastIndexOf(":");
  return { file: source.slice(0, colon), line: Number(source.slice(colon + 1)) };
}

function on([first, ...others]: readonly ResourceRef[]): string {
  if (first === undefined) return "";
  return ` (on ${formatRef(first)}${others.length === 0 ? "" : ` and ${others.length} more`})`;
}
