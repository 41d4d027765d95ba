import { addSignals, edgeKey, hasSignals, noSignals, otherEdge } from "@isthmus/core";
import { CONTROL_PLANE_COUNTERS, type ControlPlaneCounts } from "../controlPlaneSignals.ts";
import { proxyMemory } from "../proxyMemory.ts";
import type { EdgeSignals, ProxyOwner, ProxyTraffic } from "../proxySignals.ts";
import { fairTable } from "./fairTable.ts";
import {
  type EdgeCounts,
  MOST_ANSWER_BYTES,
  MOST_EDGES,
  MOST_OTHERS,
  MOST_SPAN_MS,
  type TrafficAnswer,
  type TrafficQuery,
} from "./trafficAnswer.ts";

/** A pod that was scraped. `isNew`: it was not there in an earlier round, so that all that it counted is not counted yet. */
export interface ScrapedPod extends ProxyOwner {
  /** `namespace/name`. */
  readonly key: string;
  readonly isNew: boolean;
}

/** What happens in a cluster, out of what its pods have counted since they started. */
export interface TrafficCounter {
  proxy(pod: ScrapedPod, traffic: ProxyTraffic, isComplete: boolean): void;
  controlPlane(pod: ScrapedPod, counts: ControlPlaneCounts): void;
  /** A round begins, in which proxies of these workloads, as `namespace/name`, may be scraped for the first time. */
  startRound(expected: ReadonlySet<string>): void;
  /** A round is over: `keys` are the pods that there are. */
  endRound(keys: ReadonlySet<string>, round: { readonly targets: number; readonly scraped: number }): void;
  answer(query: TrafficQuery): TrafficAnswer;
}

export interface CounterOptions {
  readonly epoch: string;
  readonly now: () => number;
  /** Called with a number of edges of a proxy that there is no room for: nothing of it is counted until there is. */
  readonly forgotten?: (edges: number) => void;
  /** Edges that are known of all proxies. Default: 100,000. */
  readonly mostKept?: number;
}

/**
 * Counts from the first time that a pod is scraped: what it had counted before is somebody else's. A counter that went back began again. Requests
 * are counted where they were sent, and only those of a workload that is not scraped where they arrived. `now` is in milliseconds.
 */
export function trafficCounter({ epoch, now, forgotten = () => undefined, mostKept = MOST_KEPT_EDGES }: CounterOptions): TrafficCounter {
  const proxies = proxyMemory(mostKept, forgotten);
  /** Pods of control planes. Anybody may name pods so that they are taken for some: namespaces have equal shares. */
  const planes = fairTable<{ readonly workload: string; last: ControlPlaneCounts }>(MOST_PLANES, ({ workload }) => forgetState(workload));
  /** Of those whose pods are in `planes`, by `namespace/name`: since this term began, the same however often they are asked for. */
  const states = new Map<string, { namespace: string; workload: string; counts: Float64Array }>();
  const others = new Map<string, EdgeCounts>();
  const pending = fairTable<EdgeCounts>(MOST_EDGES, (row, namespace) => addOther(namespace, row.signals));
  let senders: ReadonlySet<string> = new Set();
  let outstanding: { readonly sequence: number; readonly edges: ReadonlyMap<string, GroupedCounts>; readonly from: number } | undefined;
  let sequence = 0;
  let round = { targets: 0, scraped: 0 };
  let from = now();
  let to = from;

  function addOther(namespace: string, signals: EdgeCounts["signals"]): void {
    const group = others.has(namespace) || others.size < MOST_OTHERS - 1 ? namespace : "";
    const row = others.get(group) ?? { edge: otherEdge(group), signals: noSignals() };
    addSignals(row.signals, signals);
    others.set(group, row);
  }

  function count(namespace: string, { edge, signals }: EdgeCounts): void {
    const key = edgeKey(edge);
    const row = pending.get(namespace, key);
    if (row !== undefined) addSignals(row.signals, signals);
    else if (!pending.add(namespace, key, { edge, signals: signals.slice() })) addOther(namespace, signals);
  }

  function countChanges(
    pod: ScrapedPod,
    edges: ReadonlyMap<string, EdgeSignals>,
    before: ReadonlyMap<string, EdgeSignals> | undefined,
  ): void {
    for (const [key, { edge, signals }] of edges) {
      const changes = increaseSince(before?.get(key)?.signals, signals);
      if (hasSignals(changes)) count(pod.namespace, { edge, signals: changes });
    }
  }

  function forget(): void {
    for (const [namespace, rows] of [...pending.groups]) for (const key of [...rows.keys()]) pending.delete(namespace, key);
    others.clear();
    outstanding = undefined;
    from = to;
  }

  /** Forgets a control plane of which no pod is left. */
  function forgetState(workload: string): void {
    if (planesOf(workload).length === 0) states.delete(workload);
  }

  function planesOf(workload: string): readonly { readonly last: ControlPlaneCounts }[] {
    const pods = planes.groups.get(workload.slice(0, workload.indexOf("/")))?.values() ?? [];
    return [...pods].filter((pod) => pod.workload === workload);
  }

  return {
    proxy(pod, traffic, isComplete) {
      const last = proxies.get(pod.key);
      if (last !== undefined || pod.isNew) {
        countChanges(pod, traffic.sent, last?.sent);
        const unscraped = [...traffic.received].filter(([, { edge }]) => !senders.has(`${edge.sourceNamespace}/${edge.sourceWorkload}`));
        countChanges(pod, new Map(unscraped), last?.received);
      }
      // Without a memory of it nothing of the pod can be counted: its next scrape begins again.
      proxies.keep({ pod, sent: kept(traffic.sent, last?.sent, isComplete), received: kept(traffic.received, last?.received, isComplete) });
    },
    controlPlane({ key, namespace, workload, isNew }, last) {
      const plane = planes.get(namespace, key);
      const before = plane?.last;
      const name = `${namespace}/${workload}`;
      if (plane !== undefined) plane.last = last;
      else if (!planes.add(namespace, key, { workload: name, last })) return;
      if (before === undefined && !isNew) return;
      const state = states.get(name) ?? { namespace, workload, counts: new Float64Array(CONTROL_PLANE_COUNTERS.length) };
      const changes = increaseSince(before?.counts, last.counts);
      state.counts = state.counts.map((count, at) => count + (changes[at] ?? 0));
      states.set(name, state);
    },
    startRound(expected) {
      // Whichever end is scraped first: what such a workload sends must not be counted at both.
      senders = new Set([...senders, ...expected]);
    },
    endRound(keys, done) {
      for (const { pod } of proxies.states) if (!keys.has(pod.key)) proxies.delete(pod.key);
      for (const [namespace, pods] of [...planes.groups])
        for (const key of [...pods.keys()]) if (!keys.has(key)) planes.delete(namespace, key);
      for (const name of [...states.keys()]) forgetState(name);
      senders = new Set([...proxies.states].map(({ pod }) => `${pod.namespace}/${pod.workload}`));
      round = done;
      to = now();
      if (to - from > MOST_SPAN_MS) forget();
    },
    answer({ received }) {
      if (outstanding !== undefined && (received?.epoch !== epoch || received.sequence !== outstanding.sequence)) {
        // It did not arrive: it is sent again, with what came since.
        for (const { namespace, counts } of outstanding.edges.values()) count(namespace, counts);
        from = outstanding.from;
      }
      const edges = taken();
      const spanMs = to - from;
      const controlPlanes = [...states].map(([name, { counts, ...ref }]) => {
        const proxiesNow = planesOf(name).reduce((sum, { last }) => sum + last.proxies, 0);
        return { ...ref, proxies: proxiesNow, counts: [...counts] };
      });
      outstanding = { sequence: ++sequence, edges, from };
      from = to;
      return {
        epoch,
        sequence,
        ageMs: now() - to,
        spanMs,
        ...round,
        edges: [...edges.values()].map(({ counts }) => counts),
        controlPlanes,
      };
    },
  };

  /** All that is pending, as far as an answer may hold it: what is beyond counts for the rest of its namespace. */
  function taken(): ReadonlyMap<string, GroupedCounts> {
    const edges = new Map<string, GroupedCounts>();
    let bytes = MOST_OTHERS * OTHER_BYTES;
    for (const [namespace, rows] of [...pending.groups]) {
      for (const [key, counts] of [...rows]) {
        bytes += key.length + NUMBERS_BYTES;
        if (bytes <= MOST_ANSWER_BYTES) edges.set(`${namespace}\n${key}`, { namespace, counts });
        else addOther(namespace, counts.signals);
        pending.delete(namespace, key);
      }
    }
    for (const [namespace, counts] of others) edges.set(`${namespace}\n`, { namespace, counts });
    others.clear();
    return edges;
  }
}

/** Counts, and the namespace of the pod that counted. */
interface GroupedCounts {
  readonly namespace: string;
  readonly counts: EdgeCounts;
}

// Of all proxies together: about 60 MB, whatever their names are (`proxyMemory`).
const MOST_KEPT_EDGES = 100_000;
// Twice what is read of one (`MOST_EDGES_OF_PROXY`).
const MOST_KEPT_OF_PROXY = 1_000;
// Pods; an answer has no more control planes (`MOST_CONTROL_PLANES`).
const MOST_PLANES = 50;
// Twenty numbers of a thousand requests each; at most, in JSON, 17 digits each.
const NUMBERS_BYTES = 20 * 18 + 30;
const OTHER_BYTES = 600 + NUMBERS_BYTES;

/** What is known of a proxy now: of an incomplete scrape, what was known before stays where nothing is said of it. */
function kept(
  now: ReadonlyMap<string, EdgeSignals>,
  before: ReadonlyMap<string, EdgeSignals> | undefined,
  isComplete: boolean,
): ReadonlyMap<string, EdgeSignals> {
  const merged = isComplete || before === undefined ? now : new Map([...before, ...now]);
  return merged.size > MOST_KEPT_OF_PROXY ? now : merged;
}

/** All of it, if one of the counters went back: a proxy begins with all of them at 0. */
function increaseSince(before: Float64Array | undefined, now: Float64Array): Float64Array {
  if (before === undefined || now.some((count, at) => count < (before[at] ?? 0))) return now.slice();
  return now.map((count, at) => count - (before[at] ?? 0));
}
