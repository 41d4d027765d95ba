import { type EndedInsight, MOST_ENDED_OF_CLUSTER } from "@isthmus/insights";
import type { FleetMoment } from "../events/fleet.ts";
import type { ConsoleEndedInsight } from "../wire.ts";

type Ended = Pick<FleetMoment["insights"], "ended" | "forgotten">;

/** Insights that have ended, as they are shown, and of which clusters there were more; the same lists as before while they are the same. */
export function endedInsights(): (ended: Iterable<EndedInsight>) => Ended {
  let [from, shown]: [readonly EndedInsight[], Ended] = [[], { ended: [], forgotten: [] }];
  return (ended) => {
    const now = [...ended];
    if (now.length === from.length && now.every((one, i) => one === from[i])) return shown;
    [from, shown] = [now, { ended: now.map(shownEnded), forgotten: forgotten(now) }];
    return shown;
  };
}

function shownEnded({ object, code, severity, field, message, since, until }: EndedInsight): ConsoleEndedInsight {
  return { object, code, severity, field, message, since: new Date(since).toISOString(), until: new Date(until).toISOString() };
}

/** Of a cluster that has as many as are kept, there may have been more. */
function forgotten(ended: readonly EndedInsight[]): Ended["forgotten"] {
  const byCluster = new Map<string, { count: number; first: number }>();
  for (const { object, until } of ended) {
    const { count, first } = byCluster.get(object.clusterName) ?? { count: 0, first: until };
    byCluster.set(object.clusterName, { count: count + 1, first: Math.min(first, until) });
  }
  return [...byCluster].flatMap(([cluster, { count, first }]) =>
    count < MOST_ENDED_OF_CLUSTER ? [] : [{ cluster, before: new Date(first).toISOString() }],
  );
}
