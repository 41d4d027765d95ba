import { kindOf } from "@isthmus/api";
import { formatRef, type Resource, refOf, resourceKeyOf, type Snapshot } from "@isthmus/core";
import type { Insight } from "./insight.ts";

/** On an object: which insights about it are not to be shown, why, and until when. */
export const SUPPRESS_ANNOTATION = "isthmus.mesh/suppress-insights";

/** An insight that somebody does not want to see. */
export interface SuppressedInsight {
  readonly insight: Insight;
  readonly reason: string;
}

/** Insights, and those among them that are suppressed: none is lost. */
export interface EvaluatedInsights {
  readonly shown: readonly Insight[];
  readonly suppressed: readonly SuppressedInsight[];
  /** Suppressions that are not in force, with the reason: they end, or cannot be read. Each begins with the object. */
  readonly problems: readonly string[];
}

interface Suppression {
  /** A code, or the beginning of codes and `*`. */
  readonly code: string;
  readonly reason: string;
}

// CODE [until YYYY-MM-DD]: reason
const ENTRY = /^([A-Z]{2,3}(?:\d{4}|\d{0,3}\*))(?: until (\d{4}-\d{2}-\d{2}))?: ?(\S.*)$/;
const MOST_ENTRIES = 32;

/**
 * Takes out what annotations of the objects suppress: entries of the form `CODE until YYYY-MM-DD: reason`, one a line or separated by `;`.
 * The day is the last one, in UTC, and may be left out; the reason may not.
 */
export function suppressionApplied(insights: readonly Insight[], known: Snapshot, now: number): EvaluatedInsights {
  const read = new Map<string, ReturnType<typeof suppressionsOf>>();
  const shown: Insight[] = [];
  const suppressed: SuppressedInsight[] = [];
  for (const insight of insights) {
    const key = resourceKeyOf(insight.object);
    const kind = kindOf(insight.object.apiVersion, insight.object.kind);
    const found = read.get(key) ?? suppressionsOf(kind && known.of(kind).get(insight.object), now);
    read.set(key, found);
    const by = found.inForce.find(({ code }) => (code.endsWith("*") ? insight.code.startsWith(code.slice(0, -1)) : insight.code === code));
    if (by === undefined) shown.push(insight);
    else suppressed.push({ insight, reason: by.reason });
  }
  return { shown, suppressed, problems: [...read.values()].flatMap(({ problems }) => problems) };
}

function suppressionsOf(
  object: Resource | undefined,
  now: number,
): { readonly inForce: readonly Suppression[]; readonly problems: readonly string[] } {
  const text = object?.metadata.annotations?.[SUPPRESS_ANNOTATION] ?? "";
  const [inForce, problems]: [Suppression[], string[]] = [[], []];
  if (object === undefined || text === "") return { inForce, problems };
  const entries = text
    .split(/[;\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  const tell = (problem: string) => problems.push(`${formatRef(refOf(object))}: annotation ${SUPPRESS_ANNOTATION}: ${problem}`);
  if (entries.length > MOST_ENTRIES) tell(`has more than ${MOST_ENTRIES} entries: the others are not used`);
  for (const entry of entries.slice(0, MOST_ENTRIES)) {
    const [, code, until, reason = ""] = ENTRY.exec(entry) ?? [];
    if (code === undefined) tell(`"${entry}" is not of the form "CODE until YYYY-MM-DD: reason", so it suppresses nothing`);
    else if (until !== undefined && !(now < Date.parse(until) + DAY_MS))
      tell(`the suppression of ${code} has ended on ${until}: remove it, or extend it`);
    else inForce.push({ code, reason });
  }
  return { inForce, problems };
}

const DAY_MS = 24 * 3_600_000;
