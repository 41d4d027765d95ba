import { UsageError } from "@isthmus/core";
import type { Insight } from "@isthmus/insights";
import type { PrintedInsight } from "@isthmus/insights/report";
import type { ExitCode, Io } from "../io.ts";
import type { InsightsPrinting } from "../offline/insightsOptions.ts";
import { type InsightsReport, type PrintedEnded, printInsights } from "../offline/insightsReport.ts";
import { plainText } from "../output/plainText.ts";

/** What a running server tells. */
export interface LiveInsights extends InsightsReport {
  /** The moment of the snapshot that they are of, in milliseconds since 1970. */
  readonly at: number;
  /** Clusters of which the server knows nothing. */
  readonly unknown: readonly string[];
  /** How many are not listed, by cluster. */
  readonly omitted: ReadonlyMap<string, number>;
}

/** Path of the page; `cluster`: only of that one. */
export function insightsPath(cluster: string | undefined): string {
  return cluster === undefined ? "/insights" : `/insights?cluster=${encodeURIComponent(cluster)}`;
}

/** Reads the page. Throws UsageError for what is none, and for a server that has found nothing out yet: another replica may have. */
export function liveInsights(text: string): LiveInsights {
  const page = parsed(text);
  if (page.at === null)
    throw new UsageError(
      "the server has found nothing out yet: wait until it has heard all clusters (meshctl sync status); replicas without a store do not know what the leader found",
    );
  const at = typeof page.at === "string" ? Date.parse(page.at) : Number.NaN;
  if (Number.isNaN(at) || !Array.isArray(page.items) || !page.items.every(isItem)) throw new UsageError(NO_INSIGHTS);
  const items: readonly Item[] = page.items;
  return {
    at,
    shown: items.flatMap(({ suppressed, ...insight }) => (suppressed === undefined ? [insight] : [])),
    suppressed: items.flatMap(({ suppressed, ...insight }) => (suppressed === undefined ? [] : [{ ...suppressed, insight }])),
    problems: textsIn(page.problems),
    ended: Array.isArray(page.ended) ? page.ended.filter(isEnded) : [],
    unknown: textsIn(page.unknown),
    omitted: omittedIn(page.omitted),
  };
}

/** Prints them. `history`: also those that have ended. 3: something is missing, and nothing of the rest is as bad as asked. */
export async function printLiveInsights(
  { at, unknown, omitted, ended, ...report }: LiveInsights,
  options: InsightsPrinting & { readonly history?: true },
  { version, now, io }: { readonly version: string; readonly now: number; readonly io: Io },
): Promise<ExitCode> {
  const warn = (text: string) => io.err(`${io.colors.yellow("warning:")} ${plainText(text)}\n`);
  const told = { ...report, ...(options.history === true && ended !== undefined ? { ended } : {}) };
  const code = await printInsights(told, options, { version, read: `as of ${new Date(at).toISOString()}`, io });
  const isOld = now - at > OLD_MS;
  if (isOld) warn(`no server has looked since ${new Date(at).toISOString()}: see whether one leads (meshctl check)`);
  if (unknown.length > 0)
    warn(`the server knows nothing of ${shortList(unknown)}: what is listed of them was found before (meshctl sync status)`);
  for (const [cluster, count] of [...omitted].slice(0, MOST_NAMES))
    warn(`${count} more of ${cluster === "" ? "the management cluster" : cluster} are not listed: pass --cluster "${cluster}"`);
  return code === 0 && (isOld || unknown.length > 0 || omitted.size > 0) ? 3 : code;
}

// A leader looks once a minute.
const OLD_MS = 5 * 60_000;
const MOST_NAMES = 10;

function shortList(names: readonly string[]): string {
  return names.length > MOST_NAMES ? `${names.slice(0, MOST_NAMES).join(", ")}, …` : names.join(", ");
}

const NO_INSIGHTS = "/insights: the answer is no list of insights: is it the admin port of a management server of this version?";

type Unchecked<T> = { readonly [M in keyof T]?: unknown };

function parsed(text: string): Unchecked<Record<"at" | "items" | "problems" | "ended" | "unknown" | "omitted", unknown>> {
  try {
    const page = JSON.parse(text) as unknown;
    if (typeof page === "object" && page !== null) return page;
  } catch {
    // Said below.
  }
  throw new UsageError(NO_INSIGHTS);
}

interface Item extends PrintedInsight {
  readonly suppressed?: { readonly reason: string; readonly until?: string; readonly by: string };
}

function isItem(value: unknown): value is Item {
  const {
    code,
    severity,
    field,
    message,
    object,
    remedy,
    nearMiss,
    since,
    targets = [],
    suppressed,
    ...others
  } = (value ?? {}) as Unchecked<Item>;
  const { text, command, patch } = (remedy ?? {}) as Unchecked<Insight["remedy"]>;
  return (
    [code, field, message, text].every(isText) &&
    [nearMiss, since, command, patch].every(isTextOrNone) &&
    // A server knows of no files.
    [others.file, others.line].every((member) => member === undefined) &&
    ["error", "warning", "info"].includes(severity as string) &&
    [object, ...(Array.isArray(targets) ? targets : [undefined])].every(isRef) &&
    (suppressed === undefined || isSuppression(suppressed))
  );
}

function isSuppression(value: unknown): value is NonNullable<Item["suppressed"]> {
  const { reason, by, until } = (value ?? {}) as Unchecked<NonNullable<Item["suppressed"]>>;
  return [reason, by].every(isText) && isTextOrNone(until);
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || isText(value);
}

function isEnded(value: unknown): value is PrintedEnded {
  const { code, field, message, since, until, object } = (value ?? {}) as Unchecked<PrintedEnded>;
  return [code, field, message, since, until].every(isText) && isRef(object);
}

function isRef(value: unknown): boolean {
  const { kind, name, namespace, clusterName } = (value ?? {}) as Unchecked<Insight["object"]>;
  return [kind, name, namespace, clusterName].every(isText);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter(isText) : [];
}

function omittedIn(value: unknown): ReadonlyMap<string, number> {
  const entries: readonly Unchecked<{ readonly cluster: string; readonly count: number }>[] = Array.isArray(value) ? value : [];
  return new Map(
    entries.flatMap((entry) => (isText(entry?.cluster) && typeof entry.count === "number" ? [[entry.cluster, entry.count] as const] : [])),
  );
}
