import { formatRef, type Report, type ResourceRef, resourceKeyOf } from "@isthmus/core";
import type { StatusUpdate } from "@isthmus/translators";
import type { Intake } from "./intake.ts";

/** One finding as a line, without colour: where, what, why, what to do. */
export interface FindingLine {
  readonly isRejection: boolean;
  readonly text: string;
}

/** The findings of a translation. What is said of many targets of one resource in the same words is one line. */
export function findingLines(reports: readonly Report[], sourceOf: Intake["sourceOf"]): readonly FindingLine[] {
  const groups = new Map<string, { readonly report: Report; readonly targets: ResourceRef[] }>();
  for (const report of reports) {
    if (report.state === "ACCEPTED") continue;
    const key = [resourceKeyOf(report.subject), report.state, report.message].join("\n");
    const group = groups.get(key) ?? { report, targets: [] };
    groups.set(key, group);
    if (report.target !== undefined) group.targets.push(report.target);
  }
  return [...groups.values()].map(({ report, targets }) => ({
    isRejection: isRejected(report.state),
    text: `${place(report, sourceOf)}${formatRef(report.subject)}: ${report.message}${on(targets)}`,
  }));
}

/** What statuses say of whole objects and no report has said. */
export function statusReports(statuses: readonly StatusUpdate[], reports: readonly Report[]): readonly Report[] {
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
export function isRejected(state: unknown): boolean {
  return state === "INVALID" || state === "FAILED";
}

/** Messages begin with the field they are about: then its own line is named. */
function place({ subject, message }: Report, sourceOf: Intake["sourceOf"]): string {
  const field = /^(?:spec|metadata|status)(?:\.\w+|\[\d+\])*(?=: )/.exec(message)?.[0] ?? "";
  const source = sourceOf(subject, field);
  return source === undefined ? "" : `${source}: `;
}

function on([first, ...others]: readonly ResourceRef[]): string {
  if (first === undefined) return "";
  return ` (on ${formatRef(first)}${others.length === 0 ? "" : ` and ${others.length} more`})`;
}
