import type { TrafficPolicy } from "@isthmus/api";
import { bySources, equalMatches, type Matches, matchesFrom } from "./matches.ts";

/** Policies that are for the same requests from one source: together they make one route for each match. */
export interface PolicyGroup {
  readonly matches: Matches;
  readonly policies: readonly TrafficPolicy[];
}

/**
 * The policies that are for requests from a cluster, by what requests they are for. Members are in order of precedence; groups
 * too, but those whose sources are of this cluster alone come first.
 */
export function policyGroups(policies: readonly TrafficPolicy[], clusterName: string): readonly PolicyGroup[] {
  const groups: { matches: Matches; policies: TrafficPolicy[] }[] = [];
  for (const policy of policies) {
    const matches = matchesFrom(clusterName, policy.spec ?? {});
    if (matches === undefined) continue;
    const group = groups.find((candidate) => equalMatches(candidate.matches, matches));
    if (group === undefined) groups.push({ matches, policies: [policy] });
    else group.policies.push(policy);
  }
  return groups.sort((a, b) => bySources(a.matches, b.matches));
}
