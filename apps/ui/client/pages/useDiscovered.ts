import { type Kind, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import { useMemo } from "react";
import { useFleet } from "../data/store.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import { insightCountsAbout } from "../model/insights/insightIndex.ts";
import type { DiscoveredRow } from "./discoveredColumns.tsx";

/** A row for each object of a kind; computed again when these objects, or insights, change. */
export function useDiscovered<R extends Resource>(kind: Kind<R>): readonly DiscoveredRow<R>[] {
  const fleet = useFleet();
  const objects = fleet.snapshot.of(kind);
  const { insights } = fleet;
  return useMemo(
    () =>
      [...objects].map((object) => ({
        object,
        cluster: clusterOf(object),
        insights: insightCountsAbout({ insights }, resourceKeyOf(refOf(object))),
      })),
    [objects, insights],
  );
}
