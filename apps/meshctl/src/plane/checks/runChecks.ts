import type { Cluster } from "@isthmus/ports";
import type { Check } from "./check.ts";
import { type CheckSelection, selectedChecks } from "./checks.ts";
import { type PlaneState, readPlaneState, type StateInsights, type StateName } from "./planeState.ts";
import { insightsOfState } from "./readInsights.ts";
import type { CheckResult } from "./report.ts";

/** Makes checks of the management plane, and reads only what they need. Throws ClusterError when the API server does not answer. */
export async function runChecks(
  cluster: Cluster,
  { selection, ...place }: Pick<PlaneState, "namespace" | "now"> & { readonly selection: CheckSelection },
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  const checks = selectedChecks(selection);
  const needed = new Set(checks.flatMap(({ reads, uses = [] }) => [...reads, ...uses] as readonly StateName[]));
  const { state, unread } = await readPlaneState(cluster, { ...place, needed }, signal);
  const known = new Set([...needed].filter((part) => !unread.has(part)));
  let insights: StateInsights | undefined;
  const withInsights: PlaneState = {
    ...state,
    // Of one that cannot be made nothing is printed.
    grouped: new Set(checks.flatMap(({ reads, codes = [] }) => (reads.some((part) => unread.has(part as StateName)) ? [] : codes))),
    insights: () => {
      insights ??= insightsOfState(state, known);
      return insights;
    },
  };
  return resultsOf(checks, withInsights, unread);
}

/** What checks say of a state of which parts may be missing; nothing of those that do not apply. */
export function resultsOf<State>(
  checks: readonly Check<State>[],
  state: State,
  unread: ReadonlyMap<string, string>,
): readonly CheckResult[] {
  return checks.flatMap(({ category, description, reads, applies, findings }): readonly CheckResult[] => {
    const missing = reads.flatMap((name) => unread.get(name) ?? []);
    if (missing.length > 0) return [{ category, description, findings: [], unread: [...new Set(missing)].join("; ") }];
    return applies?.(state) === false ? [] : [{ category, description, findings: findings(state) }];
  });
}
