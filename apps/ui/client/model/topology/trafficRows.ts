import { destinationCluster, fullKeyOf, type SignalRates } from "@isthmus/core";
import type { Fleet } from "../../data/fleet.ts";
import { Destination, type Workload } from "../../data/kinds.ts";
import { type CountedEdge, calledText, callerText, countedEdges, summedEdges, type TrafficMinutes, trafficEnds } from "./traffic.ts";
import { trafficRates } from "./trafficText.ts";

/** What was counted between an object and another one. */
export interface TrafficRow {
  readonly key: string;
  /** Whether the object was called, or has called. */
  readonly side: "received" | "sent";
  /** The other end, if it is known. */
  readonly object: Workload | Destination | undefined;
  readonly text: string;
  /** Of the other end; "" where nobody knows, as of a host. */
  readonly cluster: string;
  readonly rates: SignalRates;
  /** Requests and failed requests a second at the last moments, in turns, oldest first. */
  readonly series: ArrayLike<number>;
}

/** The busiest first, those that it was called by before those that it calls. A Destination calls nothing: the workloads behind it do. */
export function trafficRows(fleet: Fleet, object: Workload | Destination, minutes: TrafficMinutes): readonly TrafficRow[] {
  const ends = trafficEnds(fleet);
  const key = fullKeyOf(object);
  const isSame = (other: Workload | Destination | undefined) => other !== undefined && fullKeyOf(other) === key;
  const groups = new Map<string, Omit<TrafficRow, "rates" | "series"> & { readonly counted: CountedEdge[] }>();
  const add = (row: Omit<TrafficRow, "rates" | "series" | "key">, counted: CountedEdge): void => {
    const name = `${row.side} ${row.cluster} ${row.text}`;
    const group = groups.get(name) ?? { ...row, key: name, counted: [] };
    group.counted.push(counted);
    groups.set(name, group);
  };
  for (const counted of countedEdges(fleet, minutes)) {
    const { cluster, edge } = counted;
    const isReceiver = object.kind === Destination.kind ? isSame(ends.destination(counted)) : isSame(ends.target(counted));
    if (isReceiver) add({ side: "received", object: ends.source(counted), text: callerText(counted), cluster }, counted);
    if (object.kind === Destination.kind || !isSame(ends.source(counted))) continue;
    const called = ends.destination(counted);
    const there = called?.spec?.kubeService?.ref?.clusterName ?? destinationCluster(edge, cluster);
    add({ side: "sent", object: called, text: calledText(counted), cluster: there }, counted);
  }
  const rows = [...groups.values()].map(({ counted, ...row }): TrafficRow => {
    const sum = summedEdges(counted);
    return { ...row, rates: trafficRates(sum), series: sum.series };
  });
  return rows
    .sort((a, b) => (a.side === b.side ? b.rates.requests - a.rates.requests : a.side === "received" ? -1 : 1))
    .slice(0, MOST_ROWS);
}

// More than anybody reads; the graph's table has all.
const MOST_ROWS = 100;
