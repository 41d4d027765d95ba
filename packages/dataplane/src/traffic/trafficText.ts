import { CODE_CLASSES, DURATION_BOUNDS, SIGNAL_AT, type TrafficEdge } from "@isthmus/core";
import { CONTROL_PLANE_COUNTERS } from "../controlPlaneSignals.ts";
import type { ClusterTraffic, FleetEdge } from "./fleetTraffic.ts";

/** A cluster that is registered, and what is known of its traffic here: undefined where that is nothing. */
export interface NamedTraffic {
  readonly cluster: string;
  readonly traffic: ClusterTraffic | undefined;
}

/** A family of metrics, and its samples of one cluster. */
interface Family {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly lines: (named: NamedTraffic) => Iterable<string>;
}

/** What the page has, in its order. docs/reference/metrics.md lists it. */
export const TRAFFIC_METRICS: readonly Family[] = [
  {
    name: "gloo_mesh_traffic_known",
    type: "gauge",
    help: "1 if this replica of the server has what the agent of the cluster counted within the last two minutes, else 0.",
    lines: ({ cluster, traffic }) => [sample("gloo_mesh_traffic_known", { cluster }, traffic === undefined ? 0 : 1)],
  },
  {
    name: "gloo_mesh_traffic_targets",
    type: "gauge",
    help: "Number of proxies and control planes of the cluster, by whether the last round read them.",
    lines: ({ cluster, traffic }) =>
      traffic === undefined
        ? []
        : [
            sample("gloo_mesh_traffic_targets", { cluster, result: "read" }, traffic.scraped),
            sample("gloo_mesh_traffic_targets", { cluster, result: "failed" }, Math.max(0, traffic.targets - traffic.scraped)),
          ],
  },
  {
    name: "gloo_mesh_requests_total",
    type: "counter",
    help: "Number of requests, by class of the response code; none: there was no response.",
    lines: eachEdge(function* (labels, { totals }) {
      for (const [at, code] of CODE_CLASSES.entries()) {
        const count = totals[SIGNAL_AT.codes + at] ?? 0;
        if (count > 0) yield sample("gloo_mesh_requests_total", { ...labels, response_code_class: code }, count);
      }
    }),
  },
  {
    name: "gloo_mesh_request_duration_milliseconds",
    type: "histogram",
    help: "Duration of requests.",
    lines: eachEdge(function* (labels, { totals }) {
      let sum = 0;
      for (let at = 0; at <= DURATION_BOUNDS.length; at++) {
        sum += totals[SIGNAL_AT.buckets + at] ?? 0;
        yield sample("gloo_mesh_request_duration_milliseconds_bucket", { ...labels, le: String(DURATION_BOUNDS[at] ?? "+Inf") }, sum);
      }
      yield sample("gloo_mesh_request_duration_milliseconds_sum", labels, totals[SIGNAL_AT.durationMs] ?? 0);
      yield sample("gloo_mesh_request_duration_milliseconds_count", labels, sum);
    }),
  },
  {
    name: "gloo_mesh_request_bytes_total",
    type: "counter",
    help: "Bytes that callers sent, of requests and of TCP connections.",
    lines: eachEdge((labels, { totals }) => [sample("gloo_mesh_request_bytes_total", labels, totals[SIGNAL_AT.requestBytes] ?? 0)]),
  },
  {
    name: "gloo_mesh_response_bytes_total",
    type: "counter",
    help: "Bytes that callers received, of responses and of TCP connections.",
    lines: eachEdge((labels, { totals }) => [sample("gloo_mesh_response_bytes_total", labels, totals[SIGNAL_AT.responseBytes] ?? 0)]),
  },
  {
    name: "gloo_mesh_control_plane_proxies",
    type: "gauge",
    help: "Number of proxies that are connected to a control plane.",
    lines: ({ cluster, traffic }) =>
      (traffic?.controlPlanes ?? []).map(({ namespace, workload, proxies }) =>
        sample("gloo_mesh_control_plane_proxies", { cluster, namespace, workload }, proxies),
      ),
  },
  ...(["pushes", "rejects", "errors"] as const).map((event): Family => {
    const name = `gloo_mesh_control_plane_${event}_total`;
    const help = {
      pushes: "Configurations sent to proxies.",
      rejects: "Configurations that proxies rejected.",
      errors: "Internal errors.",
    };
    return {
      name,
      type: "counter",
      help: help[event],
      lines: ({ cluster, traffic }) =>
        (traffic?.controlPlanes ?? []).map(({ namespace, workload, counts }) =>
          sample(name, { cluster, namespace, workload }, counts[CONTROL_PLANE_COUNTERS.indexOf(event)] ?? 0),
        ),
    };
  }),
];

/** The page in Prometheus' text format, bit by bit. An empty bit after each cluster lets others have their turn. */
export function* trafficText(clusters: readonly NamedTraffic[]): Iterable<string> {
  for (const { name, type, help, lines } of TRAFFIC_METRICS) {
    yield `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const named of clusters) {
      yield* lines(named);
      yield "";
    }
  }
}

function eachEdge(lines: (labels: Labels, edge: FleetEdge) => Iterable<string>): Family["lines"] {
  return function* ({ cluster, traffic }) {
    for (const edge of traffic?.edges ?? []) yield* lines(labelsOf(cluster, edge.edge), edge);
  };
}

type Labels = Readonly<Record<string, string>>;

/**
 * The names that dashboards of the published product use: `NAME.NAMESPACE.CLUSTER`, empty without NAME. The namespace and the cluster are labels of
 * their own too, so that no two edges have the same labels: Prometheus refuses a whole page with two such lines.
 */
function labelsOf(cluster: string, edge: TrafficEdge): Labels {
  const there = edge.cluster === "" ? cluster : edge.cluster;
  return {
    cluster,
    gm_workload_ref: refOf(edge.sourceWorkload, edge.sourceNamespace, cluster),
    source_workload_namespace: edge.sourceNamespace,
    gm_destination_workload_ref: refOf(edge.workload, edge.namespace, there),
    destination_service: edge.service,
    destination_namespace: edge.namespace,
    destination_cluster: edge.cluster,
  };
}

function refOf(name: string, namespace: string, cluster: string): string {
  return name === "" ? "" : [name, namespace, cluster].filter((part) => part !== "").join(".");
}

/** Names have nothing to escape (`isTrafficName`), but for the cluster's, which is a DNS label. */
function sample(name: string, labels: Labels, value: number): string {
  const list = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
  return `${name}{${list.join(",")}} ${value}\n`;
}
