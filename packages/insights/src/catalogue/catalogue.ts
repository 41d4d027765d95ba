import { categoryOf, INSIGHT_CATEGORIES, type InsightCode, type InsightSeverity } from "../insight.ts";
import { CERTIFICATES } from "./certificates.ts";
import { CONFIGURATION } from "./configuration.ts";
import type { CatalogueEntry } from "./entry.ts";
import { FEDERATION } from "./federation.ts";
import { GATEWAYS } from "./gateways.ts";
import { ROUTING } from "./routing.ts";
import { SECURITY } from "./security.ts";

/** Every code: its texts are written here and nowhere else. */
export const CATALOGUE = { ...CONFIGURATION, ...CERTIFICATES, ...FEDERATION, ...GATEWAYS, ...ROUTING, ...SECURITY };

type Catalogue = typeof CATALOGUE;
type FoundBy<W extends "rule" | "status"> = {
  [C in keyof Catalogue]: Catalogue[C]["severity"] extends Readonly<Record<W, InsightSeverity>> ? C : never;
}[keyof Catalogue];

/** A code that a rule finds. */
export type RuleCode = FoundBy<"rule">;
/** A code that is reported from translation. */
export type ReportedCode = FoundBy<"status">;

/** An entry of the catalogue, for programs and tables. */
export interface ExplainedCode extends Omit<CatalogueEntry, "severity"> {
  readonly code: InsightCode;
  /** That of a rule where there is one. */
  readonly severity: InsightSeverity;
  /** By what finds it, in the order of `foundBy`. That of a status is of a resource that is in force. */
  readonly severities: CatalogueEntry["severity"];
  /** In words. */
  readonly category: string;
  readonly foundBy: readonly ("rule" | "status")[];
}

/** All codes, in their order. */
export const EXPLAINED_CODES: readonly ExplainedCode[] = Object.entries<CatalogueEntry>(CATALOGUE)
  .map(([code, { severity, ...texts }]) => explained(code as InsightCode, severity, texts))
  .sort((a, b) => (a.code < b.code ? -1 : 1));

function explained(
  code: InsightCode,
  { rule, status }: CatalogueEntry["severity"],
  texts: Omit<CatalogueEntry, "severity">,
): ExplainedCode {
  const foundBy = [rule === undefined ? [] : ["rule" as const], status === undefined ? [] : ["status" as const]].flat();
  const severities = { ...(rule === undefined ? {} : { rule }), ...(status === undefined ? {} : { status }) };
  const category = INSIGHT_CATEGORIES[categoryOf(code)];
  return { code, severity: rule ?? status ?? "error", severities, category, foundBy, ...texts };
}

/** The severity of a code in a word; one for each of `foundBy`, in that order, where they differ. */
export function severityText({ severities }: Pick<ExplainedCode, "severities">): string {
  const { rule, status } = severities;
  return [...new Set([rule, status].filter((severity) => severity !== undefined))].join(", ");
}

const BY_CODE: ReadonlyMap<string, ExplainedCode> = new Map(EXPLAINED_CODES.map((entry) => [entry.code, entry]));

/** The entry of a code; undefined for one that there is not. */
export function explainedCode(code: string): ExplainedCode | undefined {
  return BY_CODE.get(code);
}

/** The anchor of a code in docs/reference/insights.md: what Markdown makes of its heading. */
export function codeAnchor({ code, title }: Pick<ExplainedCode, "code" | "title">): string {
  const isKept = (char: string) => (char >= "a" && char <= "z") || (char >= "0" && char <= "9") || "_- ".includes(char);
  return [...`${code} ${title}`.toLowerCase()].filter(isKept).join("").replaceAll(" ", "-");
}
