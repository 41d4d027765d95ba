import type { EndedInsight } from "@isthmus/insights";
import type { ConsoleEndedInsight } from "../wire.ts";

/** Insights that have ended, as they are shown; the same list as before while they are the same. */
export function endedInsights(): (ended: Iterable<EndedInsight>) => readonly ConsoleEndedInsight[] {
  let [from, shown]: [readonly EndedInsight[], readonly ConsoleEndedInsight[]] = [[], []];
  return (ended) => {
    const now = [...ended];
    if (now.length === from.length && now.every((one, i) => one === from[i])) return shown;
    [from, shown] = [now, now.map(shownEnded)];
    return shown;
  };
}

function shownEnded({ object, code, severity, field, message, since, until }: EndedInsight): ConsoleEndedInsight {
  return { object, code, severity, field, message, since: new Date(since).toISOString(), until: new Date(until).toISOString() };
}
