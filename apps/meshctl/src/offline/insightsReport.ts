import { displayName, formatRef } from "@isthmus/core";
import type { Insight, InsightSeverity } from "@isthmus/insights";
import { explainedCode } from "@isthmus/insights/catalogue";
import {
  findingOf,
  insightSentence,
  insightsJson,
  type PrintedInsight,
  type PrintedSuppressed,
  withPasteable,
} from "@isthmus/insights/report";
import { type Io, outColors } from "../io.ts";
import { columnsText } from "../output/columns.ts";
import { plainText } from "../output/plainText.ts";
import { counted } from "./check.ts";
import { formatted } from "./findingFormats.ts";
import { placeText } from "./findings.ts";
import type { InsightsPrinting } from "./insightsOptions.ts";
import { suppressionOf } from "./suppressions.ts";

/** One that is no more. */
export interface PrintedEnded {
  readonly code: string;
  readonly object: Insight["object"];
  readonly field: string;
  readonly message: string;
  readonly since: string;
  readonly until: string;
}

/** What there is to print. */
export interface InsightsReport {
  readonly shown: readonly PrintedInsight[];
  readonly suppressed: readonly PrintedSuppressed[];
  /** Suppressions on objects that are not in force. */
  readonly problems: readonly string[];
  readonly ended?: readonly PrintedEnded[];
}

/**
 * Prints insights on `out`, and on `err` how many there are, after `read`, which says of what. Whatever was written by others is without what a
 * terminal acts on. Gives 1 where one is as bad as `failOn`.
 */
export async function printInsights(
  { problems, ended, ...report }: InsightsReport,
  { output, failOn, ...options }: InsightsPrinting,
  { version, read, io }: { readonly version: string; readonly read: string; readonly io: Io },
): Promise<0 | 1> {
  const { colors } = io;
  const shown: PrintedInsight[] = [];
  const suppressed = report.suppressed.map((one): PrintedSuppressed => ({ ...one, insight: withPasteable(one.insight) }));
  for (const insight of report.shown.map(withPasteable)) {
    const by = suppressionOf(options.suppress, { ...insight.object, code: insight.code });
    if (by === undefined) shown.push(insight);
    else suppressed.push({ insight, reason: by, by: "the command line" });
  }
  // For people the worst comes first; within a severity the order stays.
  const worstFirst = [...shown].sort((a, b) => WEIGHTS[b.severity] - WEIGHTS[a.severity]);
  for (const problem of problems) io.err(`${colors.dim("note:")} ${plainText(problem)}\n`);
  if (output === "json") {
    await io.out(insightsJson({ shown, suppressed, ...(ended === undefined ? {} : { ended }) }));
  } else if (output === "table") {
    const rows = [
      ...worstFirst.map((insight) => rowOf(insight.severity, insight)),
      ...(options.suppressed === true ? suppressed : []).map(({ insight }) => rowOf("suppressed", insight)),
      ...(ended ?? []).map((one) => rowOf("ended", one)),
    ];
    if (rows.length > 0) await io.out(columnsText(HEADERS, rows, { width: io.columns, isSentenceLast: true }));
  } else if (output !== "text") {
    const findings = suppressed.map(({ insight, ...why }) => ({ ...findingOf(insight), ...why }));
    const context = { version, explain: explainedCode, suppressed: { findings, isListed: options.suppressed === true } };
    await io.out(formatted(shown.map(findingOf), output, context));
  } else {
    for (const insight of worstFirst) await io.out(textOf(insight, io));
    for (const one of options.suppressed === true ? suppressed : []) await io.out(suppressedText(one, io));
    for (const one of ended ?? []) await io.out(endedText(one, io));
  }
  io.note(`${read}; ${tally(shown)}${suppressed.length === 0 ? "" : `; ${suppressed.length} suppressed`}\n`);
  return shown.some(({ severity }) => WEIGHTS[severity] >= WEIGHTS[failOn]) ? 1 : 0;
}

const HEADERS = ["SEVERITY", "CODE", "CLUSTER", "OBJECT", "MESSAGE"];

function rowOf(
  severity: string,
  { code, object, field, message, nearMiss }: Pick<PrintedEnded, "code" | "object" | "field" | "message"> & { readonly nearMiss?: string },
): readonly string[] {
  const { kind, name, namespace, clusterName } = object;
  const meant = nearMiss === undefined ? "" : ` (did you mean ${nearMiss}?)`;
  return [
    severity,
    code,
    clusterName,
    `${kind} ${displayName({ name, namespace })}`,
    `${field === "" ? "" : `${field}: `}${message}${meant}`,
  ];
}

const WEIGHTS: Readonly<Record<InsightSeverity, number>> = { info: 0, warning: 1, error: 2 };

function textOf(insight: PrintedInsight, io: Io): string {
  const colors = outColors(io);
  const { severity, code, remedy, since } = insight;
  const color = { error: colors.red, warning: colors.yellow, info: colors.dim }[severity];
  const { command } = remedy;
  const began = since === undefined ? "" : `, since ${since}`;
  const line = plainText(`${placeText(insight)}${insightSentence(insight)} [${code}]${began}`, LONGEST_LINE);
  return `${color(`${severity}:`)} ${line}\n  ${plainText(remedy.text)}${command === undefined ? "" : `\n    ${command}`}\n`;
}

function suppressedText({ insight, reason, until, by }: PrintedSuppressed, io: Io): string {
  const end = until === undefined ? "" : ` until ${until}`;
  const line = `${placeText(insight)}${insightSentence(insight)} [${insight.code}]`;
  return `${outColors(io).dim("suppressed:")} ${plainText(line, LONGEST_LINE)}\n  ${plainText(`by ${by}${end}: ${reason}`)}\n`;
}

function endedText({ object, field, message, code, since, until }: PrintedEnded, io: Io): string {
  const line = `${formatRef(object)}: ${field === "" ? "" : `${field}: `}${message} [${code}], from ${since} to ${until}`;
  return `${outColors(io).dim("ended:")} ${plainText(line, LONGEST_LINE)}\n`;
}

// A path, a sentence, and what was meant.
const LONGEST_LINE = 8_192;

function tally(insights: readonly Insight[]): string {
  const of = (severity: InsightSeverity) => insights.filter((insight) => insight.severity === severity).length;
  return `${counted(of("error"), "error")}, ${counted(of("warning"), "warning")}, ${of("info")} info`;
}
