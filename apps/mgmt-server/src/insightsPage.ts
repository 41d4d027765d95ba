import type { FleetInsights, Server } from "@isthmus/plane";
import type { AsyncPage } from "@isthmus/process";

/**
 * What is wrong in the fleet: `{"at":…,"unknown":[…],"counts":[…],"items":[…],"problems":[…],"ended":[…],"omitted":[…]}`, one item a line. The worst
 * comes first. Of each cluster a share is listed, so that one with much to say leaves room for others: `omitted` says how many are not. `?cluster=NAME` (empty: the
 * management cluster) is about objects of one cluster, and has all the room. `at` is null where no server has found anything out yet.
 */
export function insightsPage({ insights }: Pick<Server, "insights">): AsyncPage {
  return async (query) => {
    const found = await insights();
    return found === undefined ? ['{"at":null,"items":[]}\n'] : linesOf(found, query.get("cluster") ?? undefined);
  };
}

type Dated =
  FleetInsights["objects"] extends Iterable<infer D> ? (D extends { readonly insights: readonly (infer I)[] } ? I : never) : never;

function* linesOf({ at, objects, ended, unknown, withNearMiss }: FleetInsights, only: string | undefined): Iterable<string> {
  // What a store has may be of another version, with other words.
  const bySeverity = new Map<string, Dated[]>(SEVERITIES.map((severity) => [severity, []]));
  const counts = new Map<string, { readonly code: string; readonly severity: string; shown: number; suppressed: number }>();
  const clusters = new Set<string>();
  const problems: string[] = [];
  let passed = 0;
  for (const { object, insights, problems: told } of objects) {
    // A page that waits for other things must not wait for what is passed over.
    if (++passed % PASSED_AT_ONCE === 0) yield "";
    if (only !== undefined && object.clusterName !== only) continue;
    clusters.add(object.clusterName);
    if (problems.length < MOST_PROBLEMS) problems.push(...told);
    for (const dated of insights) {
      const { code, severity } = dated.insight;
      const count = counts.get(`${code}/${severity}`) ?? { code, severity, shown: 0, suppressed: 0 };
      counts.set(`${code}/${severity}`, count);
      count[dated.suppression === undefined ? "shown" : "suppressed"]++;
      bySeverity.get(severity)?.push(dated);
    }
  }
  const sorted = [...counts.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
  yield `{"at":${JSON.stringify(new Date(at).toISOString())},"unknown":${JSON.stringify(unknown)},"counts":${JSON.stringify(sorted)},"items":[`;
  const share = Math.max(LEAST_OF_CLUSTER, Math.floor(MOST_LISTED / Math.max(1, clusters.size)));
  const listed = new Map<string, number>();
  const omitted = new Map<string, number>();
  let separator = "\n";
  for (const dated of [...bySeverity.values()].flat()) {
    const { cluster } = dated.insight;
    const before = listed.get(cluster) ?? 0;
    if (before >= share) {
      omitted.set(cluster, (omitted.get(cluster) ?? 0) + 1);
      continue;
    }
    listed.set(cluster, before + 1);
    yield `${separator}${JSON.stringify(itemOf(dated, withNearMiss))}`;
    separator = ",\n";
    // A near miss is looked for in the whole fleet.
    yield "";
  }
  yield `\n],"problems":${JSON.stringify(problems.slice(0, MOST_PROBLEMS))},"ended":[`;
  separator = "\n";
  for (const one of ended) {
    if (only !== undefined && one.object.clusterName !== only) continue;
    yield `${separator}${JSON.stringify({ ...one, since: timeText(one.since), until: timeText(one.until) })}`;
    separator = ",\n";
  }
  yield `\n],"omitted":${JSON.stringify([...omitted].map(([cluster, count]) => ({ cluster, count })))}}\n`;
}

function itemOf({ insight, since, suppression }: Dated, withNearMiss: FleetInsights["withNearMiss"]): object {
  return { ...withNearMiss(insight), since: timeText(since), ...(suppression === undefined ? {} : { suppressed: suppression }) };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

// The worst comes first.
const SEVERITIES = ["error", "warning", "info"] as const;
const PASSED_AT_ONCE = 1_000;
const MOST_PROBLEMS = 100;
// About 20 MB, of what meshctl reads at most 64.
const MOST_LISTED = 20_000;
const LEAST_OF_CLUSTER = 10;
