import type { ConsoleActivity } from "@isthmus/console/wire";
import { addSignals, edgeOfRow, noSignals, OTHER_EDGES, SIGNAL_COUNT, type Signals, type TrafficEdge } from "@isthmus/core";
import type { Fleet } from "../../data/fleet.ts";
import { Destination, Workload } from "../../data/kinds.ts";
import { millisecondsOf } from "../age.ts";
import { remembering } from "../memo.ts";

/** The windows that activity are of, in minutes. */
export const TRAFFIC_MINUTES = [5, 60] as const;
export type TrafficMinutes = (typeof TRAFFIC_MINUTES)[number];

/** What was counted between two workloads, in a window. */
export interface CountedEdge {
  /** Of the source. */
  readonly cluster: string;
  readonly edge: TrafficEdge;
  readonly signals: Signals;
  /** That were counted of the window. */
  readonly seconds: number;
  /** Requests and failed requests a second at the last moments, in turns, oldest first: of whatever window. */
  readonly series: ArrayLike<number>;
}

/** Whether anything is known of the traffic of a cluster: and of when. */
export type TrafficState =
  | { readonly known: "now"; readonly at: string; readonly seconds: number }
  /** Nobody has said anything newer. */
  | { readonly known: "stale"; readonly at: string; readonly seconds: number }
  /** `reason`: empty where nobody gives one. */
  | { readonly known: "never"; readonly reason: string };

// Servers write once a minute.
const FRESH_MS = 180_000;

/** Of a cluster in a window. `now`: of the server's clock, in milliseconds since 1970. */
export function trafficState(fleet: Pick<Fleet, "activity">, cluster: string, { minutes, now }: WindowAt): TrafficState {
  const activity = fleet.activity.get(cluster);
  const at = millisecondsOf(activity?.at);
  const window = activity?.traffic?.windows.find((one) => one.minutes === minutes);
  if (activity?.at == null || at === undefined || window === undefined) return { known: "never", reason: activity?.problem ?? "" };
  return { known: now - at > FRESH_MS ? "stale" : "now", at: activity.at, seconds: window.seconds };
}

/** A window, and of which moment it is asked. */
export interface WindowAt {
  readonly minutes: TrafficMinutes;
  readonly now: number;
}

/** All that was counted, of all clusters. */
export function countedEdges({ activity }: Pick<Fleet, "activity">, minutes: TrafficMinutes): readonly CountedEdge[] {
  return EDGES[minutes](activity);
}

const EDGES = { 5: remembering(edgesOf(5)), 60: remembering(edgesOf(60)) } as const;

function edgesOf(minutes: TrafficMinutes): (activity: Fleet["activity"]) => readonly CountedEdge[] {
  const part = TRAFFIC_MINUTES.indexOf(minutes);
  return (activity) => [...activity.values()].flatMap((one) => edgesIn(one, { minutes, part }));
}

function edgesIn(
  { cluster, traffic }: ConsoleActivity,
  { minutes, part }: { readonly minutes: number; readonly part: number },
): readonly CountedEdge[] {
  const seconds = traffic?.windows.find((one) => one.minutes === minutes)?.seconds ?? 0;
  const ofWindows = TRAFFIC_MINUTES.length * SIGNAL_COUNT;
  return (traffic?.edges ?? []).flatMap((row) => {
    const read = edgeOfRow(row, ofWindows + 2 * (traffic?.times ?? []).length);
    const signals = read?.numbers.subarray(part * SIGNAL_COUNT, (part + 1) * SIGNAL_COUNT);
    return read === undefined || signals === undefined || !signals.some((count) => count > 0)
      ? []
      : [{ cluster, edge: read.edge, signals, seconds, series: read.numbers.subarray(ofWindows) }];
  });
}

/** The sum of what was counted on several edges of one cluster. */
export function summedEdges(edges: readonly CountedEdge[]): Pick<CountedEdge, "signals" | "seconds" | "series"> {
  const signals = noSignals();
  for (const edge of edges) addSignals(signals, edge.signals);
  return { signals, seconds: Math.max(0, ...edges.map(({ seconds }) => seconds)), series: summedSeries(edges.map(({ series }) => series)) };
}

/** The sum of several series that end at the same moment, as long as the longest. */
export function summedSeries(all: readonly ArrayLike<number>[]): readonly number[] {
  const sum = new Array<number>(Math.max(0, ...all.map(({ length }) => length))).fill(0);
  for (const one of all) {
    const from = sum.length - one.length;
    for (let i = 0; i < one.length; i++) sum[from + i] = (sum[from + i] ?? 0) + (one[i] ?? 0);
  }
  return sum;
}

/** Finds what the names of edges stand for. */
export interface TrafficEnds {
  source(edge: CountedEdge): Workload | undefined;
  /** By the Service, of its own cluster or of another one; by the host under which it is federated. */
  destination(edge: CountedEdge): Destination | undefined;
  /** The workload that answered. */
  target(edge: CountedEdge): Workload | undefined;
}

/** Costs all Workloads and Destinations, once for each of their tables. */
export function trafficEnds({ snapshot }: Pick<Fleet, "snapshot">): TrafficEnds {
  const destinations = DESTINATIONS_BY_NAME(snapshot.of(Destination));
  const workloads = WORKLOADS_BY_NAME(snapshot.of(Workload));
  const destination = ({ cluster, edge }: CountedEdge) =>
    destinations.get(placed(edge.cluster || cluster, edge.namespace, edge.service)) ?? destinations.get(hosted(edge.service));
  return {
    source: ({ cluster, edge }) => workloads.get(placed(cluster, edge.sourceNamespace, edge.sourceWorkload)),
    destination,
    target(counted) {
      const { cluster, edge } = counted;
      const at = (namespace: string) => workloads.get(placed(edge.cluster || cluster, namespace, edge.workload));
      // Istio gives a federated host the namespace of its ServiceEntry, which is not that of the pods.
      return at(edge.namespace) ?? at(destination(counted)?.spec?.kubeService?.ref?.namespace ?? edge.namespace);
    },
  };
}

const DESTINATIONS_BY_NAME = remembering((destinations: Iterable<Destination>): ReadonlyMap<string, Destination> => {
  const found = new Map<string, Destination>();
  for (const destination of destinations) {
    const { ref } = destination.spec?.kubeService ?? {};
    if (ref !== undefined) {
      const { clusterName = "" } = ref;
      found.set(placed(clusterName, ref.namespace ?? "", ref.name ?? ""), destination);
      // Agents know no other domain of a cluster than cluster.local.
      found.set(placed(clusterName, "", destination.status?.localFqdn ?? ""), destination);
    }
    const hosts = [destination.status?.appliedFederation?.federatedHostname, ...(destination.spec?.externalService?.hosts ?? [])];
    for (const host of hosts) if (host !== undefined && host !== "") found.set(hosted(host), destination);
  }
  return found;
});

const WORKLOADS_BY_NAME = remembering((workloads: Iterable<Workload>): ReadonlyMap<string, Workload> => {
  const found = new Map<string, Workload>();
  for (const workload of workloads) {
    const { controller } = workload.spec?.kubernetes ?? {};
    if (controller !== undefined)
      found.set(placed(controller.clusterName ?? "", controller.namespace ?? "", controller.name ?? ""), workload);
  }
  return found;
});

// Of no Kubernetes name.
function placed(cluster: string, namespace: string, name: string): string {
  return `${cluster}\n${namespace}\n${name}`;
}

function hosted(host: string): string {
  return `\n${host}`;
}

/** How the caller of an edge is called: `namespace/workload`. */
export function callerText({ edge: { sourceNamespace, sourceWorkload } }: CountedEdge): string {
  if (sourceWorkload === OTHER_EDGES) return OTHER_EDGES;
  return [sourceNamespace, sourceWorkload].filter(Boolean).join("/");
}

/** How what an edge leads to is called: `namespace/service`, or the workload where no Service is known, or a host. */
export function calledText({ edge: { namespace, service, workload } }: CountedEdge): string {
  return [namespace, service || workload].filter(Boolean).join("/");
}
