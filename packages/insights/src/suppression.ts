import { hasSuppressionEnded, type InsightSuppression, insightSuppressions, Settings } from "@isthmus/api";
import { formatRef, keptText, matchesWildcards, type Resource, type ResourceRef, refOf, type Snapshot } from "@isthmus/core";
import type { Insight, InsightCode } from "./insight.ts";

/** On an object: which insights about it are not to be shown, why, and until when. */
export const SUPPRESS_ANNOTATION = "isthmus.mesh/suppress-insights";

/** Why an insight is not shown. */
export interface Suppression {
  readonly reason: string;
  /** The last day, in UTC, as YYYY-MM-DD. */
  readonly until?: string;
  /** Who says so: the annotation of the object, or an entry of the Settings. */
  readonly by: "annotation" | "Settings";
}

/** An insight that somebody does not want to see. */
export interface SuppressedInsight extends Suppression {
  readonly insight: Insight;
}

/** What is said of one object. */
export interface ObjectInsights {
  readonly object: ResourceRef;
  /** Suppressed or not, by code. */
  readonly all: readonly Insight[];
  readonly shown: readonly Insight[];
  readonly suppressed: readonly SuppressedInsight[];
  /** Suppressions on the object that are not in force, with the reason: they have ended, or cannot be read. Each begins with the object. */
  readonly problems: readonly string[];
}

/** What is suppressed whatever the object says, at which time. */
export interface FleetSuppressions {
  readonly entries: readonly InsightSuppression[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The suppressions of the Settings of the plane in `namespace`. Those of other Settings suppress nothing. */
export function fleetSuppressions(known: Snapshot, namespace: string): readonly InsightSuppression[] {
  const settings = known.of(Settings).get({ name: "settings", namespace, clusterName: "" });
  return settings === undefined ? NONE : insightSuppressions(settings).usable;
}

/**
 * Takes out of the insights about one object what is suppressed: by its annotation, which has entries of the form
 * `CODE until YYYY-MM-DD: reason`, one a line or separated by `;`, or by the Settings. An annotation counts for the object that has it, and for no other.
 */
export function evaluated(
  all: readonly Insight[],
  { ref, object, fleet }: { readonly ref: ResourceRef; readonly object: Resource | undefined; readonly fleet: FleetSuppressions },
): ObjectInsights {
  const { inForce, problems } = annotated(object, fleet.now);
  const entries = fleet.entries.filter(({ object: pattern, until }) => !hasSuppressionEnded(until, fleet.now) && isOne(ref, pattern));
  if (inForce.length + entries.length === 0) return { object: ref, all, shown: all, suppressed: NONE, problems };
  const shown: Insight[] = [];
  const suppressed: SuppressedInsight[] = [];
  for (const insight of all) {
    const own = inForce.find(({ code }) => isOf(insight.code, code));
    const by = own ?? entries.find(({ code }) => isOf(insight.code, code));
    if (by === undefined) shown.push(insight);
    else {
      const until = by.until === undefined ? {} : { until: by.until };
      suppressed.push({ insight, reason: by.reason, ...until, by: own === undefined ? "Settings" : "annotation" });
    }
  }
  return { object: ref, all, shown, suppressed, problems };
}

const NONE: readonly never[] = [];

function isOf(code: InsightCode, pattern: string): boolean {
  return pattern.endsWith("*") ? code.startsWith(pattern.slice(0, -1)) : code === pattern;
}

function isOne(ref: ResourceRef, { cluster, namespace, kind, name }: InsightSuppression["object"]): boolean {
  const is = (pattern: string | undefined, text: string) => pattern === undefined || matchesWildcards(text, pattern);
  return is(kind, ref.kind) && is(namespace, ref.namespace) && is(name, ref.name) && is(cluster, ref.clusterName);
}

interface Entry {
  readonly code: string;
  readonly reason: string;
  readonly until?: string;
}

// CODE [until YYYY-MM-DD]: reason
const ENTRY = /^([A-Z]{2,3}(?:\d{4}|\d{0,3}\*))(?: until (\d{4}-\d{2}-\d{2}))?: ?(\S.*)$/;
const MOST_ENTRIES = 32;

function annotated(
  object: Resource | undefined,
  now: number,
): { readonly inForce: readonly Entry[]; readonly problems: readonly string[] } {
  const text = object?.metadata.annotations?.[SUPPRESS_ANNOTATION] ?? "";
  if (object === undefined || text === "") return NOTHING;
  const [inForce, problems]: [Entry[], string[]] = [[], []];
  const entries = text
    .split(/[;\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  const tell = (problem: string) => problems.push(`${formatRef(refOf(object))}: annotation ${SUPPRESS_ANNOTATION}: ${problem}`);
  if (entries.length > MOST_ENTRIES) tell(`has more than ${MOST_ENTRIES} entries: the others are not used`);
  for (const entry of entries.slice(0, MOST_ENTRIES)) {
    const [, code, until, reason = ""] = ENTRY.exec(entry) ?? [];
    if (code === undefined)
      tell(`"${keptText(entry, MOST_SHOWN)}" is not of the form "CODE until YYYY-MM-DD: reason", so it suppresses nothing`);
    else if (hasSuppressionEnded(until, now)) tell(`the suppression of ${code} has ended on ${until}: remove it, or extend it`);
    else inForce.push({ code, reason, ...(until === undefined ? {} : { until }) });
  }
  return { inForce, problems };
}

const NOTHING = { inForce: NONE, problems: NONE };
const MOST_SHOWN = 200;
