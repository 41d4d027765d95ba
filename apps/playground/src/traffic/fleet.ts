import type { Clock } from "@isthmus/core";
import { type FleetTraffic, startTrafficRounds, windowsOf } from "@isthmus/dataplane";
import { ACTIVITY_MINUTES, type ClusterActivity, MESH_METRICS_TOPIC, MOST_ACTIVITY_EDGES, type Server } from "@isthmus/plane";
import type { RunningServerLink } from "@isthmus/relay/session";

/** What agents have counted of the simulated traffic, as the demo's console and commands read it. */
export interface DemoTraffic {
  readonly traffic: FleetTraffic;
  /** By cluster; the same map as long as no agent has answered again. */
  activity(): ReadonlyMap<string, ClusterActivity>;
  readonly ended: Promise<void>;
}

/** Asks the agents that are connected until `signal` is aborted. */
export function startDemoTraffic(
  { server, link, clock }: { readonly server: Server; readonly link: Pick<RunningServerLink, "ask">; readonly clock: Clock },
  signal: AbortSignal,
): DemoTraffic {
  const clusters = () => [...server.store.clusters].flatMap(([name, { connected }]) => (connected ? [name] : []));
  const ask = (cluster: string, body: Uint8Array, until: AbortSignal) => link.ask(cluster, { topic: MESH_METRICS_TOPIC, body }, until);
  // Somebody is watching.
  const rounds = startTrafficRounds({ clusters, ask, pauseMs: ASK_MS, clock }, signal);
  let known: { readonly of: string; readonly activity: ReadonlyMap<string, ClusterActivity> } = { of: "", activity: new Map() };

  function activityOf(clusterName: string, at: number): ClusterActivity {
    const traffic = windowsOf(rounds.traffic, clusterName, { minutes: ACTIVITY_MINUTES, now: at, most: MOST_ACTIVITY_EDGES });
    const problem = traffic === undefined ? { problem: rounds.problemOf(clusterName) ?? "its agent has not answered yet" } : {};
    return { clusterName, at, sync: server.syncDurations(clusterName), traffic, ...problem };
  }

  return {
    traffic: rounds.traffic,
    activity() {
      const of = JSON.stringify([...rounds.answered]);
      if (of !== known.of) known = { of, activity: new Map([...rounds.answered].map(([name, at]) => [name, activityOf(name, at)])) };
      return known.activity;
    },
    ended: rounds.ended,
  };
}

const ASK_MS = 2_000;
