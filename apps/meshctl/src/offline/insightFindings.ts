import { formatRef } from "@isthmus/core";
import { type Insight, insightsOf, intendedNames } from "@isthmus/insights";
import type { CheckedFiles } from "./check.ts";
import { fieldOf, type OfflineFinding, placeIn } from "./findings.ts";
import { findingOf } from "./insightsReport.ts";

interface Circumstances {
  /** Of the management plane. */
  readonly namespace: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Insights as findings: those that say what no finding of the check says already. `suppressed`: how many somebody does not want to see. */
export function insightFindings(
  { translation, findings, sourceOf }: Pick<CheckedFiles, "translation" | "findings" | "sourceOf">,
  circumstances: Circumstances,
): { readonly findings: readonly OfflineFinding[]; readonly suppressed: number } {
  const { byObject, cache } = insightsOf(translation, circumstances);
  const withNearMiss = intendedNames(cache.tables.inputs);
  const told = new Map<string, string[]>();
  for (const { message } of findings) {
    const object = message.slice(0, message.indexOf(": "));
    told.set(object, [...(told.get(object) ?? []), message]);
  }
  /** What translation reports is an insight, too, in the same words; so is a caller that the check does not know, in others. */
  const isTold = ({ code, object, field, message }: Insight): boolean => {
    const ref = formatRef(object);
    const words = `${ref}: ${field === "" ? "" : `${field}: `}${message}`;
    const isCaller = ({ code: known, message: said }: OfflineFinding) =>
      known === "CallerUnknown" && said.startsWith(`${ref}: `) && field.startsWith(fieldOf(said.slice(ref.length + 2)));
    return told.get(ref)?.some((one) => one.startsWith(words)) === true || (code === "SEC1016" && findings.some(isCaller));
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
