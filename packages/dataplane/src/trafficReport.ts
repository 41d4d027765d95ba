import type { ClusterTraffic, FleetEdge } from "./fleetTraffic.ts";
import { AT, CODE_CLASSES, DURATION_BOUNDS, type Signals, type TrafficEdge } from "./goldenSignals.ts";
import type { ControlPlaneState } from "./trafficAnswer.ts";

/** What somebody reads of an edge: means over the time in which its agent counted. */
export interface EdgeReport {
  readonly source: { readonly namespace: string; readonly workload: string };
  /** `cluster`: empty for the same one. */
  readonly destination: Pick<TrafficEdge, "namespace" | "service" | "workload" | "cluster">;
  readonly requests: number;
  /** Responses with 5xx, and requests without a response. */
  readonly errors: number;
  readonly requestsPerSecond: number;
  readonly errorPercent: number;
  /** Durations in milliseconds that so many percent of the requests stay below; undefined without requests. */
  readonly p50Ms?: number;
  readonly p90Ms?: number;
  readonly p99Ms?: number;
  readonly requestBytesPerSecond: number;
  readonly responseBytesPerSecond: number;
}

/** What somebody reads of a cluster. */
export interface ClusterReport {
  readonly cluster: string;
  readonly seconds: number;
  readonly targets: number;
  readonly scraped: number;
  readonly edges: readonly EdgeReport[];
  readonly controlPlanes: readonly Pick<ControlPlaneState, "namespace" | "workload" | "proxies">[];
}

/** Of edges on which nothing happened nothing is said. */
export function clusterReport(cluster: string, { edges, controlPlanes, ...about }: ClusterTraffic): ClusterReport {
  const busy = edges.filter(({ recent }) => recent.some((count) => count > 0));
  return {
    cluster,
    ...about,
    edges: busy.map((edge) => edgeReport(edge, about.seconds)),
    controlPlanes: controlPlanes.map(({ namespace, workload, proxies }) => ({ namespace, workload, proxies })),
  };
}

function edgeReport({ edge, recent }: FleetEdge, seconds: number): EdgeReport {
  const { sourceNamespace, sourceWorkload, namespace, service, workload, cluster } = edge;
  const requests = requestsOf(recent);
  const errors = (recent[AT.codes] ?? 0) + (recent[AT.codes + CODE_CLASSES.indexOf("5xx")] ?? 0);
  const perSecond = (count: number | undefined) => rounded((count ?? 0) / Math.max(1, seconds));
  return {
    source: { namespace: sourceNamespace, workload: sourceWorkload },
    destination: { namespace, service, workload, cluster },
    requests: rounded(requests),
    errors: rounded(errors),
    requestsPerSecond: perSecond(requests),
    errorPercent: requests === 0 ? 0 : rounded((errors / requests) * 100),
    ...quantiles(recent),
    requestBytesPerSecond: perSecond(recent[AT.requestBytes]),
    responseBytesPerSecond: perSecond(recent[AT.responseBytes]),
  };
}

/** Of all codes. */
function requestsOf(signals: Signals): number {
  return CODE_CLASSES.reduce((sum, _, at) => sum + (signals[AT.codes + at] ?? 0), 0);
}

function quantiles(signals: Signals): Pick<EdgeReport, "p50Ms" | "p90Ms" | "p99Ms"> {
  const [p50Ms, p90Ms, p99Ms] = [0.5, 0.9, 0.99].map((part) => quantile(signals, part));
  return p50Ms === undefined || p90Ms === undefined || p99Ms === undefined ? {} : { p50Ms, p90Ms, p99Ms };
}

/** As PromQL's histogram_quantile: even within a bucket, and the highest bound for what is above it. */
function quantile(signals: Signals, part: number): number | undefined {
  const buckets = [...signals.subarray(AT.buckets, AT.buckets + DURATION_BOUNDS.length + 1)];
  const all = buckets.reduce((sum, count) => sum + count, 0);
  if (all <= 0) return undefined;
  let below = 0;
  for (const [at, count] of buckets.entries()) {
    const [from, to] = [DURATION_BOUNDS[at - 1] ?? 0, DURATION_BOUNDS[at]];
    if (to === undefined) break;
    if (count > 0 && below + count >= all * part) return rounded(from + ((all * part - below) / count) * (to - from));
    below += count;
  }
  return DURATION_BOUNDS.at(-1);
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
