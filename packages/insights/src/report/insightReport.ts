import { formatRef, plainJson, withoutHidden } from "@isthmus/core";
import { explainedCode } from "../catalogue/index.ts";
import type { Insight } from "../insight.ts";
import { plainFinding, plainSuppressed, type ReportedFinding } from "./finding.ts";
import { sarif } from "./sarif.ts";

/** An insight, and where it stands in the input, or since when it has been there. */
export interface PrintedInsight extends Insight {
  readonly file?: string;
  readonly line?: number;
  /** RFC 3339. */
  readonly since?: string;
}

/** An insight that somebody does not want to see. */
export interface PrintedSuppressed {
  readonly insight: PrintedInsight;
  readonly reason: string;
  readonly until?: string;
  readonly by: string;
}

/** Insights as other programs read them. */
export interface PrintedInsights {
  readonly shown: readonly PrintedInsight[];
  readonly suppressed: readonly PrintedSuppressed[];
}

/** Insights as JSON, with what is `ended` where that was asked for; in whatever was written by others there is nothing hidden. */
export function insightsJson({ shown, suppressed, ended }: PrintedInsights & { readonly ended?: readonly object[] }): string {
  const told = plainJson({
    insights: shown.map(withPasteable),
    suppressed: suppressed.map((one) => ({ ...one, insight: withPasteable(one.insight) })),
    ...(ended === undefined ? {} : { ended }),
  });
  return `${JSON.stringify(told, undefined, 2)}\n`;
}

/** Insights as a log of one run in SARIF, those that are suppressed among them with the reason. */
export function insightsSarif(
  { shown, suppressed }: PrintedInsights,
  { program, version }: { readonly program: string; readonly version: string },
): string {
  const listed = suppressed.map(({ insight, ...why }) => plainSuppressed({ ...findingOf(withPasteable(insight)), ...why }));
  const findings = shown.map((insight) => plainFinding(findingOf(withPasteable(insight))));
  const log = sarif(findings, { program, version, explain: explainedCode, suppressed: { listed, count: listed.length } });
  return `${JSON.stringify(log, undefined, 2)}\n`;
}

/** An insight as a finding: what, on what, and what to do about it. */
export function findingOf(insight: PrintedInsight): ReportedFinding {
  const { severity, code, remedy, file, line } = insight;
  const { command } = remedy;
  return {
    severity,
    code,
    message: `${insightSentence(insight)}. Remedy: ${remedy.text}${command === undefined ? "" : `: ${command}`}`,
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
  };
}

/** What, on what; neither code nor remedy. */
export function insightSentence({ object, field, message, nearMiss, targets = [] }: Insight): string {
  const [first, ...others] = targets;
  const on = first === undefined ? "" : ` (on ${formatRef(first)}${others.length === 0 ? "" : ` and ${others.length} more`})`;
  const meant = nearMiss === undefined ? "" : ` (did you mean ${nearMiss}?)`;
  return `${formatRef(object)}: ${field === "" ? "" : `${field}: `}${message}${meant}${on}`;
}

/** An insight with a command only if that does what it says when it is pasted: without what is hidden in it, or in several lines, it would be another one. */
export function withPasteable(insight: PrintedInsight): PrintedInsight {
  const { text, command, patch } = insight.remedy;
  if (command === undefined || (!command.includes("\n") && withoutHidden(command) === command)) return insight;
  return { ...insight, remedy: { text, ...(patch === undefined ? {} : { patch }) } };
}
