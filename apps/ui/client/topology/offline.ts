import type { Edge, Node } from "@xyflow/react";
import type { Fleet } from "../data/fleet.ts";
import { timeText } from "../model/age.ts";
import { frozenSince, isGone } from "../model/clusters/freshness.ts";
import { t } from "../strings.ts";
import type { BoxData, ServiceData } from "./drawing.ts";

/** What the graph says of each cluster that does not answer: since when what is drawn of it is old. */
export function offlineClusters(fleet: Fleet, clusters: readonly string[], now: number): ReadonlyMap<string, string> {
  return new Map(
    clusters.flatMap((name): readonly (readonly [string, string])[] => {
      const since = frozenSince(fleet, name);
      if (since === undefined) return isGone(fleet, name) ? [[name, t.topology.offline]] : [];
      const time = timeText(since, now);
      return [[name, isGone(fleet, name) ? t.topology.offlineSince(time) : t.clusters.frozenAt(time)]];
    }),
  );
}

/** Nodes with those of clusters that do not answer marked: the box of such a cluster says so, and a service that is in no such box. */
export function withOfflineNodes(nodes: readonly Node[], offline: ReadonlyMap<string, string>): readonly Node[] {
  return nodes.map((node) => {
    if (node.type !== "service") {
      const { name, kind } = node.data as BoxData;
      const note = kind === "cluster" ? offline.get(name) : undefined;
      return note === undefined ? node : { ...node, data: { ...node.data, note } };
    }
    const { node: service, place = "" } = node.data as ServiceData;
    const note = service === undefined ? undefined : offline.get(service.cluster);
    if (note === undefined) return node;
    // Where its cluster has a box, that says it.
    const isBoxed = service !== undefined && place !== "" && !place.split(" · ").includes(service.cluster);
    const said = isBoxed || place === "" ? place : `${place} · ${note}`;
    return { ...node, className: `${node.className ?? ""} is-offline`, data: { ...node.data, place: said } };
  });
}

/** Edges with those marked that begin or end in a cluster that does not answer; `clusterOf` knows the cluster of each end that is a node. */
export function withOfflineEdges(
  edges: readonly Edge[],
  offline: ReadonlyMap<string, string>,
  clusterOf: (id: string) => string | undefined,
): readonly Edge[] {
  return edges.map((edge) => {
    const isOffline = [edge.source, edge.target].some((id) => offline.has(clusterOf(id) ?? ""));
    return isOffline ? { ...edge, className: `${edge.className ?? ""} is-offline` } : edge;
  });
}
