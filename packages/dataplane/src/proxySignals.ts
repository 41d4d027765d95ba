import {
  CODE_CLASSES,
  clusterOfDomain,
  DURATION_BOUNDS,
  edgeKey,
  hasSignals,
  isTrafficName,
  keptText,
  noSignals,
  SIGNAL_AT,
  type Signals,
  serviceOfHostname,
  type TrafficEdge,
} from "@isthmus/core";
import type { MetricSample } from "./exposition.ts";

/** An edge with its numbers since the proxy started. */
export interface EdgeSignals {
  readonly edge: TrafficEdge;
  readonly signals: Signals;
}

/** What one proxy counted, by `edgeKey`: of requests that its workload sent, and of those that it received. */
export interface ProxyTraffic {
  readonly sent: ReadonlyMap<string, EdgeSignals>;
  readonly received: ReadonlyMap<string, EdgeSignals>;
  /** Samples of edges beyond the limit, or with a name that is none. */
  readonly refused: number;
}

/** The workload that a proxy belongs to, by the word of Kubernetes. */
export interface ProxyOwner {
  readonly namespace: string;
  readonly workload: string;
}

/** The metrics that `proxySignals` reads. */
export const PROXY_METRICS: ReadonlySet<string> = new Set([
  "istio_requests_total",
  "istio_request_duration_milliseconds_bucket",
  "istio_request_duration_milliseconds_sum",
  "istio_request_bytes_sum",
  "istio_response_bytes_sum",
  "istio_tcp_received_bytes_total",
  "istio_tcp_sent_bytes_total",
  "envoy_cluster_upstream_rq",
  "envoy_cluster_upstream_rq_xx",
  "envoy_cluster_upstream_rq_time_bucket",
  "envoy_cluster_upstream_rq_time_sum",
  "envoy_cluster_upstream_cx_tx_bytes_total",
  "envoy_cluster_upstream_cx_rx_bytes_total",
]);

/**
 * Reduces what a proxy exposes to its edges. Its own end of each is `owner`, whatever labels say: a pod that lies can only do so about its own
 * workload. Istio's metrics count; only of a proxy that has none, those of Envoy's clusters: these know Services, not workloads.
 * Source: istio.io/docs/reference/config/metrics; Envoy, "Cluster manager statistics".
 */
export function proxySignals(owner: ProxyOwner, mostEdges: number): { take(sample: MetricSample): void; traffic(): ProxyTraffic } {
  const sent = edgeTable(mostEdges);
  const received = edgeTable(mostEdges);
  const clusters = edgeTable(mostEdges);
  const buckets = { series: "", name: "", value: 0 };
  let refused = 0;

  /** Consecutive buckets of a series are cumulative: gives what this one has more than the one before. */
  function increase({ name, series, value }: MetricSample): number {
    const before = buckets.series === series && buckets.name === name ? buckets.value : 0;
    Object.assign(buckets, { series, name, value });
    return Math.max(0, value - before);
  }

  return {
    take(sample) {
      const isIstio = sample.name.startsWith("istio_");
      const isSent = sample.labels.get("reporter") === "source";
      const edge = isIstio ? istioEdge(sample, owner, isSent) : clusterEdge(sample, owner);
      if (edge === undefined) return;
      const row = edge === "refused" ? undefined : (isIstio ? (isSent ? sent : received) : clusters).row(edge);
      if (row === undefined) {
        refused++;
        return;
      }
      // A bucket has to be looked at even if it adds nothing.
      const value = sample.name.endsWith("_bucket") ? increase(sample) : sample.value;
      const at = placeOf(sample);
      if (at !== undefined) add(row, at, value);
    },
    traffic() {
      const hasIstio = sent.rows.size + received.rows.size > 0;
      const used = (rows: ReadonlyMap<string, EdgeSignals>) => new Map([...rows].filter(([, { signals }]) => hasSignals(signals)));
      return { sent: used(hasIstio ? sent.rows : clusters.rows), received: used(received.rows), refused };
    },
  };
}

function edgeTable(most: number): { row(edge: TrafficEdge): Signals | undefined; readonly rows: ReadonlyMap<string, EdgeSignals> } {
  const rows = new Map<string, EdgeSignals>();
  return {
    rows,
    row(edge) {
      const key = edgeKey(edge);
      const known = rows.get(key);
      if (known !== undefined) return known.signals;
      if (rows.size >= most) return undefined;
      const signals = noSignals();
      // A key that is put together refers to its parts.
      rows.set(keptText(key), { edge: keptEdge(edge), signals });
      return signals;
    },
  };
}

/** Labels are parts of the text that they came in. */
function keptEdge({ sourceNamespace, sourceWorkload, namespace, service, workload, cluster }: TrafficEdge): TrafficEdge {
  return {
    sourceNamespace: keptText(sourceNamespace),
    sourceWorkload: keptText(sourceWorkload),
    namespace: keptText(namespace),
    service: keptText(service),
    workload: keptText(workload),
    cluster: keptText(cluster),
  };
}

/** Undefined for what other agents report, or nobody counts: what another cluster's proxies sent, and waypoints. */
function istioEdge({ labels }: MetricSample, owner: ProxyOwner, isSent: boolean): TrafficEdge | "refused" | undefined {
  if (!isSent && labels.get("reporter") !== "destination") return undefined;
  const label = (name: string) => known(labels.get(name));
  const [source, destination] = [label("source_cluster"), label("destination_cluster")];
  const isElsewhere = source !== "" && destination !== "" && source !== destination;
  if (!isSent && isElsewhere) return undefined;
  const service = label("destination_service_name");
  const edge = {
    sourceNamespace: isSent ? owner.namespace : label("source_workload_namespace"),
    sourceWorkload: isSent ? owner.workload : label("source_workload"),
    namespace: isSent ? label("destination_service_namespace") || label("destination_workload_namespace") : owner.namespace,
    service,
    workload: isSent ? label("destination_workload") : owner.workload,
    cluster: isElsewhere ? destination : "",
  };
  return Object.values(edge).every((text) => text === "" || isTrafficName(text)) ? edge : "refused";
}

/** Istio writes `unknown` for what it does not know. */
function known(text: string | undefined): string {
  return text === undefined || text === "unknown" ? "" : text;
}

/**
 * Of `outbound|PORT|SUBSET|HOST`; undefined for a cluster of another direction, or of Envoy itself. Whose Service a host means, host names of federation
 * say; where they do not, as of a VirtualDestination, the host stands for itself, of no cluster.
 */
function clusterEdge({ labels }: MetricSample, owner: ProxyOwner): TrafficEdge | "refused" | undefined {
  const [direction, , , host = ""] = (labels.get("cluster_name") ?? labels.get("envoy_cluster_name") ?? "").split("|");
  if (direction !== "outbound") return undefined;
  if (!isTrafficName(host)) return "refused";
  const service = serviceOfHostname(host);
  const cluster = service && clusterOfDomain(service.domain);
  const isKnown = service !== undefined && cluster !== undefined;
  return {
    sourceNamespace: owner.namespace,
    sourceWorkload: owner.workload,
    namespace: isKnown ? service.namespace : "",
    service: isKnown ? service.name : host,
    workload: "",
    cluster: isKnown ? cluster : "",
  };
}

/** Where a sample counts; undefined for one that counts elsewhere already. */
function placeOf({ name, labels }: MetricSample): number | undefined {
  switch (name) {
    case "istio_requests_total":
      return SIGNAL_AT.codes + codeClass(labels.get("response_code") ?? "", labels.get("grpc_response_status") ?? "");
    case "istio_request_duration_milliseconds_bucket":
    case "envoy_cluster_upstream_rq_time_bucket":
      return SIGNAL_AT.buckets + bucketOf(labels.get("le") ?? "");
    case "istio_request_duration_milliseconds_sum":
    case "envoy_cluster_upstream_rq_time_sum":
      return SIGNAL_AT.durationMs;
    // Of a TCP connection, "received" is said of the end that was called.
    case "istio_request_bytes_sum":
    case "istio_tcp_received_bytes_total":
    case "envoy_cluster_upstream_cx_tx_bytes_total":
      return SIGNAL_AT.requestBytes;
    case "istio_response_bytes_sum":
    case "istio_tcp_sent_bytes_total":
    case "envoy_cluster_upstream_cx_rx_bytes_total":
      return SIGNAL_AT.responseBytes;
    default: {
      // Envoy counts each request twice: by its exact code, and by the class.
      const of = labels.get("response_code_class") ?? labels.get("envoy_response_code_class");
      return of === undefined ? undefined : SIGNAL_AT.codes + codeClass(`${of[0] ?? ""}00`, "");
    }
  }
}

/** What no counter has is left out. */
function add(row: Signals, at: number, value: number): void {
  if (value >= 0 && value <= MOST_COUNT) row[at] = (row[at] ?? 0) + value;
}

// A number below has all its units.
const MOST_COUNT = Number.MAX_SAFE_INTEGER;

function bucketOf(le: string): number {
  const bound = le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le);
  const at = DURATION_BOUNDS.findIndex((most) => bound <= most);
  return at < 0 ? DURATION_BOUNDS.length : at;
}

/** Where a request is counted. A failed gRPC call has code 200: its status counts, as HTTP would say it. */
function codeClass(code: string, grpcStatus: string): number {
  if (grpcStatus !== "" && grpcStatus !== "0") return CODE_CLASSES.indexOf(GRPC_SERVER_ERRORS.has(grpcStatus) ? "5xx" : "4xx");
  const first = Number(code) / 100;
  return first >= 1 && first < CODE_CLASSES.length ? Math.trunc(first) : 0;
}

// UNKNOWN, DEADLINE_EXCEEDED, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS. Source: googleapis, google/rpc/code.proto (HTTP mapping).
const GRPC_SERVER_ERRORS: ReadonlySet<string> = new Set(["2", "4", "12", "13", "14", "15"]);
