import { fullKeyOf, type SignalRates } from "@isthmus/core";
import type { Fleet } from "../../data/fleet.ts";
import { Destination, Workload } from "../../data/kinds.ts";
import { type CountedEdge, countedEdges, summedEdges, trafficEnds } from "./traffic.ts";
import { trafficRates } from "./trafficText.ts";

/** What was sent to a Destination or a Workload in the last five minutes. */
export interface ReceivedTraffic {
  readonly rates: SignalRates;
  /** Requests and failed requests a second at the last moments, in turns, oldest first. */
  readonly series: ArrayLike<number>;
}

/** What each Destination and each Workload received, by its full key; one that received nothing, or of which nothing is known, is not there. */
export function receivedTraffic(fleet: Pick<Fleet, "activity" | "snapshot">): ReadonlyMap<string, ReceivedTraffic> {
  const { activity, snapshot } = fleet;
  const tables = [snapshot.of(Destination), snapshot.of(Workload)] as const;
  const last = LAST.get(activity);
  // Other objects of the snapshot change all the time.
  if (last?.tables.every((table, i) => table === tables[i])) return last.received;
  const received = computed(fleet);
  LAST.set(activity, { tables, received });
  return received;
}

const LAST = new WeakMap<
  Fleet["activity"],
  { readonly tables: readonly unknown[]; readonly received: ReadonlyMap<string, ReceivedTraffic> }
>();

function computed(fleet: Pick<Fleet, "activity" | "snapshot">): ReadonlyMap<string, ReceivedTraffic> {
  const ends = trafficEnds(fleet);
  const groups = new Map<string, CountedEdge[]>();
  for (const counted of countedEdges(fleet, 5)) {
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
