import { type SignalRates, signalRates, type TrafficEdge } from "@isthmus/core";
import type { ClusterTraffic, FleetEdge } from "./fleetTraffic.ts";
import type { ControlPlaneState } from "./trafficAnswer.ts";

/** What somebody reads of an edge. */
export interface EdgeReport extends SignalRates {
  readonly source: { readonly namespace: string; readonly workload: string };
  /** `cluster`: empty for the same one. */
  readonly destination: Pick<TrafficEdge, "namespace" | "service" | "workload" | "cluster">;
}

/** What somebody reads of a cluster. */
export interface ClusterReport {
  readonly cluster: string;
  readonly seconds: number;
  readonly targets: number;
  readonly scraped: number;
  readonly edges: readonly EdgeReport[];
  readonly controlPlanes: readonly Pick<ControlPlaneState, "namespace" | "workload" | "proxies">[];
}

/** Of edges on which nothing happened nothing is said. */
export function clusterReport(cluster: string, { edges, controlPlanes, ...about }: ClusterTraffic): ClusterReport {
  const busy = edges.filter(({ recent }) => recent.some((count) => count > 0));
  return {
    cluster,
    ...about,
    edges: busy.map((edge) => edgeReport(edge, about.seconds)),
    controlPlanes: controlPlanes.map(({ namespace, workload, proxies }) => ({ namespace, workload, proxies })),
  };
}

function edgeReport({ edge, recent }: FleetEdge, seconds: number): EdgeReport {
  const { sourceNamespace, sourceWorkload, namespace, service, workload, cluster } = edge;
  return {
    source: { namespace: sourceNamespace, workload: sourceWorkload },
    destination: { namespace, service, workload, cluster },
    ...signalRates(recent, seconds),
  };
}
