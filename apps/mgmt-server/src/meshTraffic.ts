import type { Clock } from "@isthmus/core";
import { clusterReport, startTrafficRounds, trafficText, windowsOf } from "@isthmus/dataplane";
import { ACTIVITY_MINUTES, type ClusterActivity, MESH_METRICS_TOPIC, MOST_ACTIVITY_EDGES, type Server } from "@isthmus/plane";
import { listPage, type Page, type PostPage, type TypedPage, textPage } from "@isthmus/process";
import type { AskAgent } from "./accessLogs.ts";
import { type MetricsInputs, observabilityMetricsPage } from "./observabilityMetrics.ts";

/** The traffic of the clusters whose agents are connected to this replica, and why that of others is not known here. */
export interface MeshTraffic {
  /** `?cluster=NAME`: Prometheus' text format. */
  readonly metricsPage: TypedPage;
  /** `?cluster=NAME&minutes=5`: one item for each cluster. */
  readonly page: Page;
  /** Of the clusters whose agents have answered the last question: what happened within the last hour. */
  activity(): readonly ClusterActivity[];
  /** `/v0/observability/metrics/node` and `/edge`. */
  readonly nodePage: PostPage;
  readonly edgePage: PostPage;
  readonly ended: Promise<void>;
}

interface MeshTrafficOptions {
  readonly server: Pick<Server, "store" | "syncDurations">;
  readonly ask: AskAgent;
  readonly clock: Clock;
}

/** Asks each agent that is connected here every 15 s for what it has counted since, until `signal` is aborted. */
export function startMeshTraffic({ server, ask, clock }: MeshTrafficOptions, signal: AbortSignal): MeshTraffic {
  const rounds = startTrafficRounds(
    { clusters: connectedClusters, ask: (cluster, body, until) => ask(cluster, { topic: MESH_METRICS_TOPIC, body }, until), clock },
    signal,
  );
  const { traffic, answered } = rounds;

  function isConnected(cluster: string): boolean {
    return server.store.clusters.get(cluster)?.connected === true;
  }

  function connectedClusters(): readonly string[] {
    return [...server.store.clusters].flatMap(([name, { isServed, connected }]) => (isServed && connected ? [name] : []));
  }

  /** Registered clusters, with what is known of them. */
  function clusters(query: URLSearchParams, minutes: number) {
    const only = query.get("cluster");
    const names = [...server.store.clusters].flatMap(([name, { isServed }]) =>
      isServed && (only === null || name === only) ? [name] : [],
    );
    return names.map((cluster) => ({ cluster, traffic: isConnected(cluster) ? traffic.of(cluster, minutes, clock.now()) : undefined }));
  }

  function problemOf(cluster: string): string {
    if (!isConnected(cluster)) return "its agent is not connected to this replica of the server";
    return rounds.problemOf(cluster) ?? "its agent has not answered yet";
  }

  function activityOf(clusterName: string, at: number): ClusterActivity {
    const known = { clusterName, at, sync: server.syncDurations(clusterName) };
    const counted = windowsOf(traffic, clusterName, { minutes: ACTIVITY_MINUTES, now: at, most: MOST_ACTIVITY_EDGES });
    return counted === undefined ? { ...known, traffic: undefined, problem: problemOf(clusterName) } : { ...known, traffic: counted };
  }

  const inputs: MetricsInputs = {
    traffic,
    clusters: () =>
      clusters(new URLSearchParams(), 1).map(({ cluster, traffic: known }) => ({
        cluster,
        ...(known === undefined ? { problem: problemOf(cluster) } : {}),
      })),
    now: clock.now,
  };

  return {
    nodePage: observabilityMetricsPage("node", inputs),
    edgePage: observabilityMetricsPage("edge", inputs),
    activity: () => [...answered].flatMap(([cluster, at]) => (isConnected(cluster) ? [activityOf(cluster, at)] : [])),
    metricsPage: textPage((query) => trafficText(clusters(query, 1))),
    page(query) {
      const minutes = Number(query.get("minutes") ?? DEFAULT_MINUTES);
      if (!Number.isInteger(minutes) || minutes < 1 || minutes > MOST_MINUTES)
        throw new TypeError(`minutes: ${query.get("minutes")} is not a number from 1 to ${MOST_MINUTES}`);
      return listPage(function* () {
        for (const { cluster, traffic: known } of clusters(query, minutes))
          yield known === undefined ? { cluster, problem: problemOf(cluster) } : clusterReport(cluster, known);
      })(query);
    },
    ended: rounds.ended,
  };
}

const DEFAULT_MINUTES = 5;
const MOST_MINUTES = 60;
