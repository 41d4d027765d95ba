import type { Clock, Kind, Resource } from "@isthmus/core";
import type { FleetMoment } from "../events/fleet.ts";
import type { SnapshotClock } from "../wire.ts";
import type { Place } from "./rights.ts";

/** Where an object is. */
export function objectPlace({ apiVersion, kind, metadata }: Pick<Resource, "apiVersion" | "kind" | "metadata">): Place {
  return { apiVersion, kind, namespace: metadata.namespace ?? "", clusterName: metadata.clusterName ?? "" };
}

/** Where Meshes, Workloads and Destinations are, whether or not there are any: `namespace` is that of the management plane. */
export function discoveredPlaces(kinds: readonly Kind[], namespace: string): readonly Place[] {
  return kinds.map(({ apiVersion, kind }) => ({ apiVersion, kind, namespace, clusterName: "" }));
}

/** Whether anything is known of what happened in clusters. */
export function hasActivity({ activity }: FleetMoment): boolean {
  return activity !== undefined && activity.size > 0;
}

/** A cluster, apart from what is in it. */
export function clusterPlace(clusterName: string): Place {
  return { apiVersion: "", kind: "", namespace: "", clusterName };
}

/** The clusters that a moment names beside its objects. */
export function clustersIn({ insights, certificates, activity }: FleetMoment, clock: Pick<SnapshotClock, "clusters">): readonly Place[] {
  const names = [
    ...insights.unknown,
    ...certificates.map(({ cluster }) => cluster),
    ...clock.clusters.map(({ name }) => name),
    ...(activity?.keys() ?? []),
  ];
  return [...new Set(names)].filter((name) => name !== "").map(clusterPlace);
}

/** Every place of a moment once. Costs all of its objects; others have their turn meanwhile. */
export async function placesIn(moment: FleetMoment, clock: Clock, signal: AbortSignal): Promise<readonly Place[]> {
  const places = new Map<string, Place>();
  const add = (place: Place) => places.set([place.apiVersion, place.kind, place.namespace, place.clusterName].join(" "), place);
  for (const parts of [moment.objects, moment.generated]) {
    for (const part of parts.values()) {
      for (const collection of part.collections().values()) {
        for (const object of collection) add(objectPlace(object));
        await clock.sleep(0, signal);
      }
    }
  }
  for (const { object } of [...moment.insights.objects, ...moment.insights.ended]) add(object);
  return [...places.values()];
}
