import { fullKeyOf, type SignalRates } from "@isthmus/core";
import type { Fleet } from "../../data/fleet.ts";
import { Destination, Workload } from "../../data/kinds.ts";
import { millisecondsOf } from "../age.ts";
import { type CountedEdge, countedEdges, summedEdges, trafficEnds, trafficState } from "./traffic.ts";
import { trafficRates } from "./trafficText.ts";

/** What was sent to a Destination or a Workload in the last five minutes. */
export interface ReceivedTraffic {
  readonly rates: SignalRates;
  /** Requests and failed requests a second at the last moments, in turns, oldest first. */
  readonly series: ArrayLike<number>;
}

/**
 * What each Destination and each Workload received, by its full key; one that received nothing, or of which nothing is known, is not there. What the
 * agent of a caller's cluster said last counts for three minutes, as a list has no place to say that a figure is old.
 */
export function receivedTraffic(fleet: Pick<Fleet, "activity" | "clock" | "snapshot">): ReadonlyMap<string, ReceivedTraffic> {
  const { activity, clock, snapshot } = fleet;
  const now = millisecondsOf(clock?.now) ?? 0;
  const known = [...activity.keys()].filter((cluster) => trafficState(fleet, cluster, { minutes: 5, now }).known === "now");
  const tables = [snapshot.of(Destination), snapshot.of(Workload)] as const;
  const last = LAST.get(activity);
  // Other objects of the snapshot change all the time.
  if (last?.known === known.join() && last.tables.every((table, i) => table === tables[i])) return last.received;
  const received = computed(fleet, new Set(known));
  LAST.set(activity, { tables, known: known.join(), received });
  return received;
}

const LAST = new WeakMap<
  Fleet["activity"],
  { readonly tables: readonly unknown[]; readonly known: string; readonly received: ReadonlyMap<string, ReceivedTraffic> }
>();

function computed(fleet: Pick<Fleet, "activity" | "snapshot">, known: ReadonlySet<string>): ReadonlyMap<string, ReceivedTraffic> {
  const ends = trafficEnds(fleet);
  const groups = new Map<string, CountedEdge[]>();
  for (const counted of countedEdges(fleet, 5)) {
    if (!known.has(counted.cluster)) continue;
    for (const object of [ends.destination(counted), ends.target(counted)]) {
      if (object === undefined) continue;
      const key = fullKeyOf(object);
      const group = groups.get(key) ?? [];
      group.push(counted);
      groups.set(key, group);
    }
  }
  return new Map(
    [...groups].map(([key, counted]) => {
      const sum = summedEdges(counted);
      return [key, { rates: trafficRates(sum), series: sum.series }];
    }),
  );
}
