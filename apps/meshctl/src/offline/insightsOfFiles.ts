import { formatRef } from "@isthmus/core";
import { type Insight, type InsightSeverity, insightsOf, REPORTED_CODES, RULES, suppressionApplied } from "@isthmus/insights";
import type { ExitCode, Io } from "../io.ts";
import { type CheckedFiles, checkFiles, counted } from "./check.ts";
import { formatted } from "./findingFormats.ts";
import { type OfflineFinding, placeIn, placeText, type Severity } from "./findings.ts";
import type { InsightsOptions } from "./insightsOptions.ts";

/** Files in, insights out: as text or for programs, on `out` both. */
export async function insightsOfFiles(
  options: InsightsOptions,
  { version, now }: { readonly version: string; readonly now: number },
  io: Io,
): Promise<ExitCode> {
  const checked = await checkFiles({ ...options, stage: "all" }, io);
  const { translation, count, rejected } = checked;
  const { all } = insightsOf(translation, { namespace: options.namespace, now });
  const { shown, suppressed, problems } = suppressionApplied(all, translation.inputs, now);
  for (const problem of problems) io.err(`${io.colors.dim("note:")} ${problem}\n`);
  if (rejected.length > 0) {
    const files = options.file.join(" ");
    io.err(
      `${io.colors.yellow("warning:")} ${counted(rejected.length, "object")} cannot be used, so insights may be missing: see meshctl validate -f ${files}\n`,
    );
  }
  if (options.output === "text") for (const insight of shown) await io.out(textOf(insight, checked, io));
  else if (options.output === "json") await io.out(`${JSON.stringify({ insights: shown.map(placed), suppressed }, undefined, 2)}\n`);
  else await io.out(formatted(shown.map(findingOf), options.output, version, meaningOf));
  io.note(`${counted(count, "object")} read; ${tally(shown)}${suppressed.length === 0 ? "" : `; ${suppressed.length} suppressed`}\n`);
  if (shown.some(({ severity }) => WEIGHTS[severity] >= WEIGHTS[options.failOn])) return 1;
  return rejected.length > 0 ? 3 : 0;

  function placed(insight: Insight): object {
    return { ...insight, ...placeOf(insight, checked) };
  }

  function findingOf(insight: Insight): OfflineFinding {
    const { severity, code } = insight;
    return {
      severity: FINDING_SEVERITIES[severity],
      code,
      message: `${sentence(insight)}. ${remedyText(insight)}`,
      ...placeOf(insight, checked),
    };
  }
}

const WEIGHTS: Readonly<Record<InsightSeverity, number>> = { info: 0, warning: 1, error: 2 };
const FINDING_SEVERITIES: Readonly<Record<InsightSeverity, Severity>> = { info: "note", warning: "warning", error: "rejected" };

function placeOf({ object, field }: Insight, { sourceOf }: CheckedFiles): Pick<OfflineFinding, "file" | "line"> {
  const source = sourceOf(object, field) ?? sourceOf(object, "");
  return source === undefined ? {} : placeIn(source);
}

function sentence({ object, field, message, nearMiss, targets = [] }: Insight): string {
  const [first, ...others] = targets;
  const on = first === undefined ? "" : ` (on ${formatRef(first)}${others.length === 0 ? "" : ` and ${others.length} more`})`;
  const meant = nearMiss === undefined ? "" : ` (did you mean ${nearMiss}?)`;
  return `${formatRef(object)}: ${field === "" ? "" : `${field}: `}${message}${meant}${on}`;
}

function remedyText({ remedy }: Insight): string {
  return remedy.command === undefined ? `Remedy: ${remedy.text}` : `Remedy: ${remedy.text}: ${remedy.command}`;
}

function textOf(insight: Insight, checked: CheckedFiles, { colors }: Io): string {
  const { severity, code, remedy } = insight;
  const color = { error: colors.red, warning: colors.yellow, info: colors.dim }[severity];
  const command = remedy.command === undefined ? "" : `\n    ${remedy.command}`;
  return `${color(`${severity}:`)} ${placeText(placeOf(insight, checked))}${sentence(insight)} [${code}]\n  ${remedy.text}${command}\n`;
}

function tally(insights: readonly Insight[]): string {
  const of = (severity: InsightSeverity) => insights.filter((insight) => insight.severity === severity).length;
  return `${counted(of("error"), "error")}, ${counted(of("warning"), "warning")}, ${of("info")} info`;
}

function meaningOf(code: string): string | undefined {
  return (
    RULES.find((rule) => rule.code === code)?.meaning ?? Object.entries(REPORTED_CODES).find(([reported]) => reported === code)?.[1].meaning
  );
}
