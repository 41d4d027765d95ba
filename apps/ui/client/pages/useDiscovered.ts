import type { Kind, Resource } from "@isthmus/core";
import { useMemo } from "react";
import { useFleet } from "../data/store.ts";
import { clusterOf } from "../model/clusterOf.ts";
import { type DiscoveredRow, insightCountsOf } from "./discoveredColumns.tsx";

/** A row for each object of a kind; computed again when these objects, or insights, change. */
export function useDiscovered<R extends Resource>(kind: Kind<R>): readonly DiscoveredRow<R>[] {
  const fleet = useFleet();
  const objects = fleet.snapshot.of(kind);
  const { insights } = fleet;
  return useMemo(
    () => [...objects].map((object) => ({ object, cluster: clusterOf(object), insights: insightCountsOf({ insights }, object) })),
    [objects, insights],
  );
}
