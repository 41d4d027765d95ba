import { formatRef, type Report, type ResourceRef, resourceKeyOf } from "@isthmus/core";
import type { ReportedFinding } from "@isthmus/insights/report";
import type { UserObjectStatusUpdate } from "@isthmus/translators";
import type { Intake, Note, RejectedObject } from "./intake.ts";

/** Where a line of text says it stands. */
export function placeText({ file, line }: Pick<ReportedFinding, "file" | "line">): string {
  if (file === undefined) return "";
  return line === undefined ? `${file}: ` : `${file}:${line}: `;
}

/** All findings: notes first, then warnings, then what is rejected, each in the order in which it was found. */
export function offlineFindings(
  { notes, rejected, sourceOf }: Pick<Intake, "notes" | "rejected" | "sourceOf">,
  reports: readonly Report[],
): readonly ReportedFinding[] {
  const ofReports = reportFindings(reports, sourceOf);
  return [
    ...notes.map(noteFinding),
    ...ofReports.filter(({ severity }) => severity === "warning"),
    ...rejected.flatMap(rejectedFindings),
    ...ofReports.filter(({ severity }) => severity === "error"),
  ];
}

function noteFinding({ code, message, file }: Note): ReportedFinding {
  return { severity: "info", code, message, ...(file === undefined ? {} : { file }) };
}

function rejectedFindings({ code, problems }: RejectedObject): readonly ReportedFinding[] {
  return problems.map(({ message, source }) => ({ severity: "error", code, message, ...placeIn(source) }));
}

/** What is said of many targets of one resource in the same words is one finding. */
function reportFindings(reports: readonly Report[], sourceOf: Intake["sourceOf"]): readonly ReportedFinding[] {
  const groups = new Map<string, { readonly report: Report; readonly targets: ResourceRef[] }>();
  for (const report of reports) {
    if (report.state === "ACCEPTED") continue;
    const key = [resourceKeyOf(report.subject), report.state, report.message].join("\n");
    const group = groups.get(key) ?? { report, targets: [] };
    groups.set(key, group);
    if (report.target !== undefined) group.targets.push(report.target);
  }
  return [...groups.values()].map(({ report, targets }) => ({
    severity: isRejected(report.state) ? "error" : "warning",
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
function placeOf({ subject, message }: Report, sourceOf: Intake["sourceOf"]): Pick<ReportedFinding, "file" | "line"> {
  const source = sourceOf(subject, fieldOf(message));
  return source === undefined ? {} : placeIn(source);
}

/** `policies.yaml:14` as file and line. */
export function placeIn(source: string): Pick<ReportedFinding, "file" | "line"> {
  const colon = source.lastIndexOf(":");
  return { file: source.slice(0, colon), line: Number(source.slice(colon + 1)) };
}

function on([first, ...others]: readonly ResourceRef[]): string {
  if (first === undefined) return "";
  return ` (on ${formatRef(first)}${others.length === 0 ? "" : ` and ${others.length} more`})`;
}
