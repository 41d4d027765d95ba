import { ineffectiveFields } from "../shared/unknownFields.ts";
import { Settings, type SettingsSpec } from "./settings.ts";

type Entry = NonNullable<NonNullable<NonNullable<SettingsSpec["insights"]>["suppressions"]>[number]>;

/** An entry of the Settings that can be used. */
export interface InsightSuppression {
  /** A code, or the beginning of codes and `*`. */
  readonly code: string;
  /** Which objects: in each member, `*` stands for any text; a member that is absent for all. */
  readonly object: NonNullable<Entry["object"]>;
  readonly reason: string;
  /** The last day, in UTC, as YYYY-MM-DD. */
  readonly until?: string;
  /** Path of the entry. */
  readonly path: string;
}

/** What keeps an entry from being used: the member, and what is wrong with it. */
export interface SuppressionProblem {
  readonly path: string;
  readonly message: string;
}

/** The suppressions of insights in Settings. One with a problem is none: what is not understood hides nothing. */
export function insightSuppressions(settings: Settings): {
  readonly usable: readonly InsightSuppression[];
  readonly problems: readonly SuppressionProblem[];
} {
  const [usable, problems]: [InsightSuppression[], SuppressionProblem[]] = [[], []];
  for (const [i, entry] of (settings.spec?.insights?.suppressions ?? []).entries()) {
    const path = `spec.insights.suppressions[${i}]`;
    const problem = problemOf(entry);
    if (problem === undefined) {
      const { code = "", object = {}, reason = "", until } = entry;
      usable.push({ code, object, reason: reason.trim(), ...(until === undefined ? {} : { until }), path });
    } else if (problem.path !== undefined) problems.push({ path: `${path}.${problem.path}`, message: problem.message });
  }
  return { usable, problems };
}

/** Whether a suppression whose last day is `until` has ended at `now`, in milliseconds since 1970. */
export function hasSuppressionEnded(until: string | undefined, now: number): boolean {
  return until !== undefined && !(now < Date.parse(until) + DAY_MS);
}

const DAY_MS = 24 * 3_600_000;

/** Without a path: unknown fields, which have a finding of their own. */
function problemOf(entry: Entry): { readonly path?: string; readonly message: string } | undefined {
  const { code, reason, until } = entry;
  if (ineffectiveFields(ENTRY, entry, "").length > 0) return { message: "has unknown fields" };
  if (code === undefined || !CODE.test(code))
    return { path: "code", message: "must be the code of an insight, such as BP0001, or the beginning of codes and *, such as RTE10*" };
  if (reason === undefined || reason.trim() === "") return { path: "reason", message: "must say why these insights are not to be shown" };
  if (until !== undefined && !(DAY.test(until) && !Number.isNaN(Date.parse(until))))
    return { path: "until", message: "must be the last day, such as 2027-01-31" };
  return undefined;
}

const ENTRY = Settings.definition.fields.spec.properties.insights.properties.suppressions.items;
const CODE = /^[A-Z]{2,3}(?:\d{4}|\d{0,3}\*)$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
