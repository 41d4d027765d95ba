import { nearestName, UsageError } from "@isthmus/core";
import { EXPLAINED_CODES, type ExplainedCode, explainedCode, severityText } from "@isthmus/insights/catalogue";
import { columnsText } from "../output/columns.ts";
import { wrapped } from "../output/fit.ts";
import { plainText } from "../output/plainText.ts";
import { markdownText } from "./markdownText.ts";

/** Every code, one a row. `columns`: of the terminal. */
export function codeList(output: "table" | "json" | "markdown", columns: number | undefined): string {
  if (output === "json") return `${JSON.stringify({ codes: EXPLAINED_CODES }, undefined, 2)}\n`;
  const rows = EXPLAINED_CODES.map((entry) => {
    const { code, category, foundBy, title } = entry;
    return [code, severityText(entry), category, foundBy.join(", "), title];
  });
  if (output === "table") return columnsText(HEADERS, rows, { width: columns, isSentenceLast: true });
  const lines = [HEADERS.map((header) => header.toLowerCase()), HEADERS.map(() => "---"), ...rows.map((row) => row.map(markdownText))];
  return lines.map((line) => `| ${line.join(" | ")} |\n`).join("");
}

const HEADERS = ["CODE", "SEVERITY", "CATEGORY", "FOUND BY", "TITLE"];

/** What a code means. Throws UsageError for one that there is not, with the one that was perhaps meant. */
export function explanation(written: string, output: "text" | "json" | "markdown", columns: number | undefined): string {
  const entry = explainedCode(written.toUpperCase());
  if (entry === undefined) {
    const meant = nearestName(
      written,
      EXPLAINED_CODES.map(({ code }) => code),
    );
    const hint = meant === undefined ? "" : ` (did you mean ${meant}?)`;
    throw new UsageError(
      `there is no insight with code ${plainText(written, LONGEST_CODE)}${hint}: meshctl insights list-rules lists all codes`,
    );
  }
  if (output === "json") return `${JSON.stringify(entry, undefined, 2)}\n`;
  return output === "markdown" ? markdown(entry) : text(entry, columns);
}

// More than a code has, so that a typing mistake is seen.
const LONGEST_CODE = 40;

function text(entry: ExplainedCode, columns: number | undefined): string {
  const { code, title } = entry;
  const lines = (paragraph: string, indent: string) =>
    (columns === undefined ? [paragraph] : wrapped(paragraph, columns - indent.length)).map((line) => `${indent}${line}\n`).join("");
  const parts = partsOf(entry).map(([heading, paragraph]) => `\n${heading}\n${lines(paragraph, INDENT)}`);
  return `${lines(`${code}: ${title}`, "")}${lines(about(entry), "")}${parts.join("")}`;
}

const INDENT = "  ";

function markdown(entry: ExplainedCode): string {
  const { code, title } = entry;
  const parts = partsOf(entry).map(([heading, paragraph]) => `\n### ${heading}\n\n${markdownText(paragraph)}\n`);
  return `## ${code}: ${markdownText(title)}\n\n${about(entry)}\n${parts.join("")}`;
}

function about(entry: ExplainedCode): string {
  const { severities, category, foundBy } = entry;
  const status = foundBy.includes("status") && severities.status !== "error" ? "; error where the resource is not in force" : "";
  return `${category}, ${severityText(entry)}, found ${foundBy.map((source) => FOUND[source]).join(" and ")}${status}`;
}

const FOUND: Readonly<Record<ExplainedCode["foundBy"][number], string>> = { rule: "by a rule", status: "in the status of a resource" };

function partsOf({ meaning, consequence, remedy, example }: ExplainedCode): readonly (readonly [string, string])[] {
  return [
    ["What it means", meaning],
    ["Why it matters", consequence],
    ["What to do", `${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`],
    ["Example", example],
  ];
}
