import { formatRef } from "@isthmus/core";
import { type Insight, insightsOf, intendedNames } from "@isthmus/insights";
import { findingOf, type ReportedFinding } from "@isthmus/insights/report";
import type { CheckedFiles } from "./check.ts";
import { fieldOf, placeIn } from "./findings.ts";

interface Circumstances {
  /** Of the management plane. */
  readonly namespace: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Insights as findings: those that say what no finding of the check says already. `suppressed`: how many somebody does not want to see. */
export function insightFindings(
  { translation, findings, left, sourceOf }: Pick<CheckedFiles, "translation" | "findings" | "left" | "sourceOf">,
  circumstances: Circumstances,
): { readonly findings: readonly ReportedFinding[]; readonly suppressed: number } {
  const { byObject, cache } = insightsOf(translation, circumstances);
  const withNearMiss = intendedNames(cache.tables.inputs);
  const told = new Map<string, ReportedFinding[]>();
  for (const finding of [...findings, ...left]) {
    const object = finding.message.split(": ", 1).join();
    const list = told.get(object);
    if (list === undefined) told.set(object, [finding]);
    else list.push(finding);
  }
  /** What translation reports is an insight, too, in the same words; so is a caller that the check does not know, in others. */
  const isTold = ({ code, object, field, message }: Insight): boolean => {
    const ref = formatRef(object);
    const words = `${ref}: ${field === "" ? "" : `${field}: `}${message}`;
    const isCaller = (one: ReportedFinding) => one.code === "CallerUnknown" && field.startsWith(fieldOf(one.message.slice(ref.length + 2)));
    return told.get(ref)?.some((one) => one.message.startsWith(words) || (code === "SEC1016" && isCaller(one))) === true;
  };
  const all = [...byObject];
  return {
    findings: all
      .flatMap(({ shown }) => shown.filter((insight) => !isTold(insight)))
      .map((insight) => {
        const source = sourceOf(insight.object, insight.field) ?? sourceOf(insight.object, "");
        return findingOf({ ...withNearMiss(insight), ...(source === undefined ? {} : placeIn(source)) });
      }),
    suppressed: all.reduce((sum, { suppressed }) => sum + suppressed.length, 0),
  };
}
