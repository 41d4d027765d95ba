import {
  addSignals,
  destinationCluster,
  errorsIn,
  noSignals,
  requestsIn,
  type Signals,
  signalRates,
  type TrafficEdge,
} from "@isthmus/core";
import type { FleetTraffic } from "@isthmus/dataplane";
import type { PostPage } from "@isthmus/process";
import { requestReader } from "./requestReader.ts";

/** What the pages read. */
export interface MetricsInputs {
  readonly traffic: Pick<FleetTraffic, "minutesOf">;
  /** Registered clusters; those whose agents are connected to another replica are answered there. */
  readonly clusters: () => readonly { readonly cluster: string; readonly problem?: string }[];
  readonly now: () => number;
}

/**
 * POST `/v0/observability/metrics/node` and `/edge`, as in Gloo Mesh Enterprise 1.x: `{"nodeSelectors": […], "time", "window", "step"}` gives `{"nodeMetrics": […]}`, of each workload what it got and sent;
 * `{"edgeSelectors": [{"source", "target"}], …}` gives `{"edgeMetrics": […]}`. A step of which nothing is known is null, never 0; clusters of which nothing is known here are in `errors`.
 */
export function observabilityMetricsPage(of: "node" | "edge", { traffic, clusters, now }: MetricsInputs): PostPage {
  return async function* (query, content) {
    const asked = askedIn(of, content, now());
    const series = new Map<string, Series>();
    const errors: object[] = [];
    for (const { cluster, problem } of clusters()) {
      const known = problem === undefined ? traffic.minutesOf(cluster, asked, now()) : undefined;
      if (known === undefined) {
        if (asked.selectors.some((ends) => ends.some((end) => end.clusters.size === 0 || end.clusters.has(cluster))))
          errors.push({ clusterName: cluster, message: problem ?? "its agent has not answered within the last two minutes" });
        continue;
      }
      for (const { edge, minutes } of known.edges) {
        const [source, target] = endsOf(cluster, edge);
        for (const name of of === "edge" ? (["edge"] as const) : (["outgoing", "incoming"] as const)) {
          const ends = name === "edge" ? [source, target] : name === "outgoing" ? [source] : [target];
          if (!asked.selectors.some((selector) => ends.every((end, at) => matches(selector[at], end)))) continue;
          const key = ends.map((end) => JSON.stringify(end)).join();
          const found = series.get(key) ?? { ends, sums: new Map() };
          series.set(key, found);
          addTo(found, { name, minutes, seconds: known.seconds });
        }
      }
      // Others have their turn.
      yield "";
    }
    const metricsOf = ({ sums }: Series, name: SumName) => shown(sums.get(name), asked);
    const items = [...series.values()].map((one) =>
      of === "edge"
        ? { sourceWorkloadRef: one.ends[0], targetWorkloadRef: one.ends[1], metrics: metricsOf(one, "edge") }
        : { workloadRef: one.ends[0], outgoingMetrics: metricsOf(one, "outgoing"), incomingMetrics: metricsOf(one, "incoming") },
    );
    const answer = { [`${of}Metrics`]: items, ...(errors.length === 0 ? {} : { errors }) };
    yield `${JSON.stringify(answer, undefined, query.has("pretty") ? 2 : undefined)}\n`;
  };
}

interface WorkloadName {
  readonly name: string;
  readonly namespace: string;
  readonly clusterName: string;
}

type SumName = "edge" | "outgoing" | "incoming";

interface Sum {
  readonly minutes: Signals[];
  readonly seconds: number[];
}

interface Series {
  readonly ends: readonly WorkloadName[];
  readonly sums: Map<SumName, Sum>;
}

/** Where no workload is known, the Service stands for it, or the host, of no cluster. */
function endsOf(clusterName: string, edge: TrafficEdge): readonly [WorkloadName, WorkloadName] {
  return [
    { name: edge.sourceWorkload, namespace: edge.sourceNamespace, clusterName },
    { name: edge.workload || edge.service, namespace: edge.namespace, clusterName: destinationCluster(edge, clusterName) },
  ];
}

function addTo(
  { sums }: Series,
  { name, minutes, seconds }: { readonly name: SumName; readonly minutes: readonly Signals[]; readonly seconds: readonly number[] },
): void {
  const sum = sums.get(name) ?? { minutes: minutes.map(noSignals), seconds: seconds.map(() => 0) };
  sums.set(name, sum);
  for (const [at, signals] of minutes.entries()) addSignals(sum.minutes[at] ?? noSignals(), signals);
  for (const [at, counted] of seconds.entries()) sum.seconds[at] = Math.max(sum.seconds[at] ?? 0, counted);
}

/** Lists with an item for each step; null: of that step nothing is known. */
function shown(sum: Sum | undefined, { from, to, step }: Asked): object {
  const steps: { readonly at: string; readonly signals: Signals | undefined; readonly seconds: number }[] = [];
  for (let first = from; first <= to; first += step) {
    const at = new Date((first + step) * MINUTE_MS).toISOString();
    const parts = Array.from({ length: Math.min(step, to - first + 1) }, (_, i) => first - from + i);
    const seconds = parts.reduce((all, part) => all + (sum?.seconds[part] ?? 0), 0);
    const signals = noSignals();
    for (const part of parts) addSignals(signals, sum?.minutes[part] ?? noSignals());
    steps.push({ at, seconds, signals: seconds > 0 ? signals : undefined });
  }
  const each = (read: (signals: Signals, seconds: number) => number | undefined) =>
    steps.map(({ signals, seconds }) => (signals === undefined ? null : (read(signals, seconds) ?? null)));
  const rounded = (value: number) => Math.round(value * 100) / 100;
  return {
    timestamps: steps.map(({ at }) => at),
    requestCount: each((signals) => rounded(requestsIn(signals))),
    successCount: each((signals) => rounded(requestsIn(signals) - errorsIn(signals))),
    failureCount: each((signals) => rounded(errorsIn(signals))),
    // Milliseconds.
    requestLatencies: {
      p50: each((signals, seconds) => signalRates(signals, seconds).p50Ms),
      p90: each((signals, seconds) => signalRates(signals, seconds).p90Ms),
      p99: each((signals, seconds) => signalRates(signals, seconds).p99Ms),
    },
  };
}

/** Whom a selector takes; empty sets take all. */
interface End {
  readonly ref: WorkloadName | undefined;
  readonly namespaces: ReadonlySet<string>;
  readonly clusters: ReadonlySet<string>;
}

interface Asked {
  /** Minutes since 1970, both included, and minutes of a step. */
  readonly from: number;
  readonly to: number;
  readonly step: number;
  /** Any may match: of a node one end, of an edge both. */
  readonly selectors: readonly (readonly End[])[];
}

const ANY: End = { ref: undefined, namespaces: new Set(), clusters: new Set() };

function matches(end: End = ANY, { name, namespace, clusterName }: WorkloadName): boolean {
  const { ref, namespaces, clusters } = end;
  if (ref !== undefined && (ref.name !== name || ref.namespace !== namespace)) return false;
  return (namespaces.size === 0 || namespaces.has(namespace)) && (clusters.size === 0 || clusters.has(clusterName));
}

/** Throws PageRefusal for what is not understood: it might have narrowed the selection. */
function askedIn(of: "node" | "edge", content: string, now: number): Asked {
  const member = `${of}Selectors`;
  const given = body(content, [member, "time", "window", "step"]);
  const { time = new Date(now).toISOString(), window = "300s", step = "60s", [member]: selectors = [] } = given;
  const at = typeof time === "string" ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(at)) throw refused("time is no date");
  if (!Array.isArray(selectors) || selectors.length > MOST_SELECTORS) throw refused(`${member} is no list of at most ${MOST_SELECTORS}`);
  const to = Math.floor(at / MINUTE_MS);
  const minutes = minutesIn(window, "window");
  return {
    ...{ from: to - minutes + 1, to, step: minutesIn(step, "step") },
    selectors: selectors.length === 0 ? [[ANY, ANY]] : selectors.map((selector) => selectorIn(of, selector)),
  };
}

function selectorIn(of: "node" | "edge", selector: unknown): readonly End[] {
  if (of === "node") return [endIn(selector)];
  const { source = {}, target = {} } = closed(selector, ["source", "target"]);
  return [endIn(source), endIn(target)];
}

function endIn(value: unknown): End {
  const { workloadRef, workloadSelector = {} } = closed(value, ["workloadRef", "workloadSelector"]);
  const { kubeWorkloadMatcher = {} } = closed(workloadSelector, ["kubeWorkloadMatcher"]);
  const { namespaces = [], clusters = [] } = closed(kubeWorkloadMatcher, ["namespaces", "clusters"]);
  const sets = { namespaces: new Set(textsIn(namespaces, "namespaces")), clusters: new Set(textsIn(clusters, "clusters")) };
  if (workloadRef === undefined) return { ...sets, ref: undefined };
  const { name = "", namespace = "", clusterName = "" } = closed(workloadRef, ["name", "namespace", "clusterName"]);
  if (typeof name !== "string" || typeof namespace !== "string" || typeof clusterName !== "string")
    throw refused("workloadRef has a name that is no text");
  return { ...sets, ref: { name, namespace, clusterName }, clusters: clusterName === "" ? sets.clusters : new Set([clusterName]) };
}

function minutesIn(text: unknown, name: string): number {
  const seconds = typeof text === "string" && text.length < 10 && text.endsWith("s") ? Number(text.slice(0, -1)) : Number.NaN;
  const minutes = seconds / 60;
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > MOST_MINUTES)
    throw refused(`${name} is no number of whole minutes in seconds, from 60s to 3600s`);
  return minutes;
}

const { body, closed, refused, textsIn } = requestReader(
  "the request",
  '{"nodeSelectors":[{"workloadRef":{"name":"web","namespace":"shop","clusterName":"east"}}],"window":"300s","step":"60s"}',
);

const MINUTE_MS = 60_000;
const MOST_MINUTES = 60;
const MOST_SELECTORS = 64;
