/** The parts of response codes: requests without a response, and those with a code of each class. */
export const CODE_CLASSES = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"] as const;

/**
 * Upper bounds of the buckets of durations, in milliseconds; one more bucket holds what took longer. A part of those that Istio's proxies have, so that
 * each of theirs lies in one of ours. Source: Envoy, `PrometheusStatsFormatter` (default histogram buckets).
 */
export const DURATION_BOUNDS = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 5000] as const;

/** Where the numbers of one pair of workloads stand in `Signals`. */
export const SIGNAL_AT = {
  codes: 0,
  buckets: CODE_CLASSES.length,
  durationMs: CODE_CLASSES.length + DURATION_BOUNDS.length + 1,
  requestBytes: CODE_CLASSES.length + DURATION_BOUNDS.length + 2,
  responseBytes: CODE_CLASSES.length + DURATION_BOUNDS.length + 3,
} as const;

/** How many numbers there are. */
export const SIGNAL_COUNT = SIGNAL_AT.responseBytes + 1;

/** Counts between two workloads: requests by class of their code, requests by duration (not cumulative), and sums, as `SIGNAL_AT` places them. */
export type Signals = Float64Array;

/** Nothing has happened. */
export function noSignals(): Signals {
  return new Float64Array(SIGNAL_COUNT);
}

/** Adds `more`, or a part of it, to `sum`, which changes. */
export function addSignals(sum: { [at: number]: number }, more: ArrayLike<number>, part = 1): void {
  for (let i = 0; i < SIGNAL_COUNT; i++) sum[i] = (sum[i] ?? 0) + (more[i] ?? 0) * part;
}

/** Whether anything has happened. */
export function hasSignals(signals: ArrayLike<number>): boolean {
  for (let i = 0; i < SIGNAL_COUNT; i++) if ((signals[i] ?? 0) > 0) return true;
  return false;
}

/** Which workload sends requests where; texts that are not known are empty. The cluster of the source is that of the agent that reports it. */
export interface TrafficEdge {
  readonly sourceNamespace: string;
  readonly sourceWorkload: string;
  readonly namespace: string;
  /** A Service; or a host, of no namespace, of which only who knows the fleet can tell what it stands for. */
  readonly service: string;
  readonly workload: string;
  /** As Istio, or the host name of a federated Service, calls the other cluster; empty for the same one, and of a host. */
  readonly cluster: string;
}

/** Equal for equal edges. Names have no line breaks (`isTrafficName`). */
export function edgeKey({ sourceNamespace, sourceWorkload, namespace, service, workload, cluster }: TrafficEdge): string {
  return `${sourceNamespace}\n${sourceWorkload}\n${namespace}\n${service}\n${workload}\n${cluster}`;
}

/** The cluster that an edge leads to, of one that is reported of `cluster`; "" where it leads to a host, as nobody has said whose that is. */
export function destinationCluster(edge: TrafficEdge, cluster: string): string {
  const isHost = edge.namespace === "" && edge.workload === "" && edge.service !== OTHER_EDGES;
  return edge.cluster !== "" || isHost ? edge.cluster : cluster;
}

/** What stands for edges that there is no room for. No workload has such a name. */
export const OTHER_EDGES = "(other)";

/** The edge that stands for those of a namespace that there is no room for. */
export function otherEdge(sourceNamespace: string): TrafficEdge {
  return { sourceNamespace, sourceWorkload: OTHER_EDGES, namespace: "", service: OTHER_EDGES, workload: "", cluster: "" };
}

/** Whether a text can be a name of an edge: those of Kubernetes, hosts, and Istio's own such as PassthroughCluster. */
export function isTrafficName(text: string): boolean {
  return text.length <= 253 && NAME.test(text);
}

const NAME = /^[A-Za-z0-9*][A-Za-z0-9._:*-]*$/;

/** The names of an edge, in the order in which rows have them. */
const EDGE_NAMES = ["sourceNamespace", "sourceWorkload", "namespace", "service", "workload", "cluster"] as const;

/** An edge as a list for JSON: its six names, then its numbers; of sums of durations no fractions that nobody reads. */
export function edgeRow(edge: TrafficEdge, numbers: Iterable<number>): readonly (string | number)[] {
  return [...EDGE_NAMES.map((name) => edge[name]), ...[...numbers].map((count) => Math.round(count * 1_000) / 1_000)];
}

/** The edge of such a list, with its numbers, of which there have to be `count`. Undefined for anything else: names and numbers are checked. */
export function edgeOfRow(row: unknown, count: number): { readonly edge: TrafficEdge; readonly numbers: Float64Array } | undefined {
  if (!Array.isArray(row) || row.length !== EDGE_NAMES.length + count) return undefined;
  const [names, counts] = [row.slice(0, EDGE_NAMES.length), row.slice(EDGE_NAMES.length)];
  if (!names.every(isEdgeName) || !counts.every(isSignalCount)) return undefined;
  const [sourceNamespace = "", sourceWorkload = "", namespace = "", service = "", workload = "", cluster = ""] = names;
  return { edge: { sourceNamespace, sourceWorkload, namespace, service, workload, cluster }, numbers: Float64Array.from(counts) };
}

/** Whether a value can be a name in a row: also one that is not known, or stands for others. */
export function isEdgeName(value: unknown): value is string {
  return typeof value === "string" && (value === "" || value === OTHER_EDGES || isTrafficName(value));
}

/** Whether a value can be one of the numbers of an edge. */
export function isSignalCount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
