import { wrapped } from "../../output/fit.ts";
import { plainText } from "../../output/plainText.ts";
import { type CheckFinding, type CheckSeverity, SEVERITIES } from "./check.ts";

/** What became of one check. */
export interface CheckResult {
  readonly category: string;
  readonly description: string;
  readonly findings: readonly CheckFinding[];
  /** Why it could not be made; undefined when it was. */
  readonly unread?: string;
  /** How many findings `-S` leaves out. */
  readonly suppressed?: number;
}

/** The results as the published `meshctl check` prints them: categories, a line for each check, and what it found below. */
export function checkText(results: readonly CheckResult[], width = WIDEST): string {
  const categories = [...new Set(results.map(({ category }) => category))];
  const sections = categories.map((category) => {
    const lines = results.filter((result) => result.category === category).flatMap((result) => resultLines(result, width));
    return [category, "-".repeat(category.length + 3), ...lines, ""].map((line) => `${line}\n`).join("");
  });
  return sections.join("");
}

// Where nothing says how wide the terminal is, a message stays on its line.
const WIDEST = Number.MAX_SAFE_INTEGER;

const SIGNS: Readonly<Record<CheckSeverity, string>> = { error: "❌", warning: "⚠️ ", info: "✅" };

function resultLines({ description, findings, unread }: CheckResult, width: number): readonly string[] {
  if (unread !== undefined)
    return [...indented(description, width, "❔ "), ...indented(`not checked: ${plainText(unread)}`, width, "  - ")];
  const [worst] = inOrder(findings);
  const sign = worst === undefined ? "✅" : SIGNS[worst.severity];
  const shown = inOrder(findings).slice(0, MOST_FINDINGS);
  const lines = shown.flatMap(({ severity, code, message, remedy }) => [
    ...indented(`${severity}: ${plainText(message)} [${code}]`, width, "  - "),
    ...indented(plainText(remedy), width, "    → "),
  ]);
  const more = findings.length > MOST_FINDINGS ? [`  - ... and ${findings.length - MOST_FINDINGS} more: -o json prints all`] : [];
  return [...indented(description, width, `${sign} `), ...lines, ...more];
}

// A screen; a fleet may have a thousand of one kind.
const MOST_FINDINGS = 20;

/** A text that begins with `lead`, its further lines below its beginning. */
function indented(text: string, width: number, lead: string): readonly string[] {
  // A sign takes two places.
  return wrapped(text, Math.max(LEAST_WIDTH, width - lead.length - 1)).map(
    (line, i) => `${i === 0 ? lead : " ".repeat(lead.length)}${line}`,
  );
}

const LEAST_WIDTH = 20;

function inOrder(findings: readonly CheckFinding[]): readonly CheckFinding[] {
  return findings.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));
}

/** The closing line: how much was checked, and what was found. */
export function checkSummary(results: readonly CheckResult[]): string {
  const findings = results.flatMap((result) => result.findings);
  const counts = SEVERITIES.map((severity) => [severity, findings.filter((finding) => finding.severity === severity).length] as const);
  const found = counts.flatMap(([severity, count]) =>
    count === 0 ? [] : [`${count} ${severity}${count === 1 || severity === "info" ? "" : "s"}`],
  );
  const unread = results.filter((result) => result.unread !== undefined).length;
  const suppressed = results.reduce((sum, result) => sum + (result.suppressed ?? 0), 0);
  const hidden = suppressed === 0 ? "" : `; ${suppressed} suppressed`;
  const missing = unread === 0 ? "" : `; ${unread} could not be made`;
  return `${results.length} checks: ${found.join(", ") || "nothing found"}${hidden}${missing}\n`;
}
