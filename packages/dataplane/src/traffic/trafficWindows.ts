import {
  addSignals,
  hasSignals,
  noSignals,
  OTHER_EDGES,
  otherEdge,
  requestsIn,
  SIGNAL_AT,
  type Signals,
  type TrafficEdge,
} from "@isthmus/core";
import type { FleetTraffic } from "./fleetTraffic.ts";

/** The traffic of a cluster in several windows, the longest last, bounded: for those who keep it. */
export interface ClusterWindows {
  /** Of so many minutes, so many seconds were counted. */
  readonly windows: readonly { readonly minutes: number; readonly seconds: number }[];
  readonly targets: number;
  readonly scraped: number;
  /** The busiest of the longest window, the first ones first; what the others had is the last one, `(other)`. */
  readonly edges: readonly WindowedEdge[];
  /** Edges that are part of `(other)`. */
  readonly left: number;
}

/** An edge, with its numbers in each window. */
export interface WindowedEdge {
  readonly edge: TrafficEdge;
  readonly signals: readonly Signals[];
}

/** `most`: edges. Undefined where the agent of the cluster has not answered within the last two minutes. */
export function windowsOf(
  traffic: Pick<FleetTraffic, "of">,
  cluster: string,
  { minutes, now, most }: { readonly minutes: readonly number[]; readonly now: number; readonly most: number },
): ClusterWindows | undefined {
  const found = minutes.map((length) => ({ length, known: traffic.of(cluster, length, now) }));
  const whole = found.at(-1)?.known;
  if (whole === undefined) return undefined;
  const edges = whole.edges.map(
    ({ edge }, at): WindowedEdge => ({
      edge,
      // Asked for at one moment, so that the edges are the same ones in the same order.
      signals: found.map(({ known }) => known?.edges[at]?.recent ?? noSignals()),
    }),
  );
  const busy = edges.filter(({ signals }) => signals.some(hasSignals)).sort(byRequests);
  const others = busy.filter(({ edge }) => edge.service === OTHER_EDGES);
  const named = busy.filter(({ edge }) => edge.service !== OTHER_EDGES);
  const kept = named.slice(0, most - 1);
  const folded = [...named.slice(kept.length), ...others];
  const rest = minutes.map((_, at) => summed(folded.flatMap(({ signals }) => signals[at] ?? [])));
  return {
    windows: found.map(({ length, known }) => ({ minutes: length, seconds: known?.seconds ?? 0 })),
    targets: whole.targets,
    scraped: whole.scraped,
    edges: folded.length === 0 ? kept : [...kept, { edge: otherEdge(""), signals: rest }],
    left: folded.length,
  };
}

function summed(all: readonly Signals[]): Signals {
  const sum = noSignals();
  for (const signals of all) addSignals(sum, signals);
  return sum;
}

function byRequests(a: WindowedEdge, b: WindowedEdge): number {
  return weightOf(b) - weightOf(a);
}

/** Of connections there are no requests: their bytes tell which are busier. */
function weightOf({ signals }: WindowedEdge): number {
  const hour = signals.at(-1) ?? noSignals();
  return requestsIn(hour) + ((hour[SIGNAL_AT.requestBytes] ?? 0) + (hour[SIGNAL_AT.responseBytes] ?? 0)) / BYTES_OF_REQUEST;
}

const BYTES_OF_REQUEST = 1_000_000;
