import { keptText } from "@isthmus/core";
import type { AgentSessions, ClusterClock, SessionEvent, SnapshotClock } from "../wire.ts";

/** What became of the sessions of agents, in memory: the last hundred events of each cluster. */
export interface SessionRecord {
  /** Compares with what was seen last. Costs the clusters. */
  observe(clock: Pick<SnapshotClock, "now" | "clusters">): void;
  readonly sessions: AgentSessions;
}

/** Has seen nothing yet. `most`: clusters of which events are kept. Default: 1,000; those that are gone are forgotten first. */
export function sessionRecord(most = MOST_CLUSTERS): SessionRecord {
  let since: string | null = null;
  let known: ReadonlyMap<string, ClusterClock> = new Map();
  const byCluster = new Map<string, SessionEvent[]>();

  function keep(event: SessionEvent): void {
    const events = byCluster.get(event.cluster) ?? [];
    // So that the clusters in which something happened last are the last.
    byCluster.delete(event.cluster);
    byCluster.set(event.cluster, [...events, event].slice(-MOST_OF_CLUSTER));
  }

  function forget(): void {
    if (byCluster.size <= most) return;
    const names = [...byCluster.keys()];
    const oldest = [...names.filter((name) => !known.has(name)), ...names.filter((name) => known.has(name))];
    for (const name of oldest.slice(0, byCluster.size - most)) byCluster.delete(name);
  }

  return {
    observe({ now, clusters }) {
      // Of what is there when it begins to look, nobody knows since when.
      const isFirst = since === null;
      since ??= now;
      const next = new Map(clusters.map((cluster) => [cluster.name, cluster]));
      for (const [name, cluster] of next) {
        const before = known.get(name);
        if (!isFirst) for (const event of between(before, cluster)) keep({ at: now, cluster: name, ...event });
      }
      for (const name of known.keys()) if (!next.has(name)) keep({ at: now, cluster: name, what: "removed" });
      known = next;
      forget();
    },
    get sessions() {
      const events = [...byCluster.values()].flat();
      return { since, events: events.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)) };
    },
  };
}

const MOST_CLUSTERS = 1_000;
const MOST_OF_CLUSTER = 100;

function isUp({ connected }: ClusterClock): boolean {
  return connected === true;
}

/** What of a cluster is other than before; names of replicas and versions are an agent's or a server's word. */
function between(before: ClusterClock | undefined, now: ClusterClock): readonly Pick<SessionEvent, "what" | "detail">[] {
  const events: Pick<SessionEvent, "what" | "detail">[] = [];
  const add = (what: SessionEvent["what"], detail?: string) =>
    events.push(detail === undefined ? { what } : { what, detail: keptText(detail, LONGEST) });
  if (before === undefined) add("added");
  if (isUp(now) && (before === undefined || !isUp(before))) add("connected", now.replica);
  if (before === undefined) return events;
  if (!isUp(now) && isUp(before)) add("disconnected");
  if (isUp(now) && isUp(before) && now.replica !== undefined && before.replica !== undefined && now.replica !== before.replica)
    add("moved", now.replica);
  if (now.phase === "unknown" && before.phase !== "unknown" && before.phase !== undefined) add("resyncing");
  if (now.phase === "synced" && before.phase !== "synced" && before.phase !== undefined) add("synced");
  if (now.version !== undefined && before.version !== undefined && now.version !== before.version) add("updated", now.version);
  return events;
}

const LONGEST = 100;
