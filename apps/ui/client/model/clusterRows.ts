import type { ConsoleCertificate } from "@isthmus/console/wire";
import type { Snapshot } from "@isthmus/core";
import type { Fleet } from "../data/fleet.ts";
import { KubernetesCluster } from "../data/kinds.ts";
import { insightIndexOf, NO_COUNTS, type SeverityCounts } from "./insightIndex.ts";
import { objectCounts } from "./objectCounts.ts";

/** What the list of clusters shows of one. */
export interface ClusterRow {
  readonly name: string;
  readonly cluster: KubernetesCluster | undefined;
  readonly objects: number;
  readonly insights: SeverityCounts;
  /** When its client certificate ends, in ISO 8601. */
  readonly certificateEnds: string | undefined;
  /** When it was last heard of, in ISO 8601. */
  readonly heardAt: string | undefined;
}

/** All clusters: those that are registered, and those of which something is known. */
export function clusterRows(fleet: Fleet): readonly ClusterRow[] {
  const clusters = clustersByName(fleet.snapshot);
  const counts = objectCounts(fleet.snapshot);
  const heard = new Map((fleet.clock?.clusters ?? []).map(({ name, at }) => [name, at ?? undefined]));
  const { byCluster } = insightIndexOf(fleet);
  const names = new Set([...clusters.keys(), ...counts.byCluster.keys(), ...heard.keys()]);
  names.delete("");
  return [...names].sort().map((name) => {
    const cluster = clusters.get(name);
    return {
      name,
      cluster,
      objects: counts.byCluster.get(name) ?? 0,
      insights: byCluster.get(name) ?? NO_COUNTS,
      certificateEnds: cluster?.status?.agent?.certificateNotAfter,
      heardAt: heard.get(name),
    };
  });
}

/** Certificates of one cluster, those that end first before the others. */
export function certificatesOf(fleet: Fleet, cluster: string): readonly ConsoleCertificate[] {
  return fleet.certificates.filter((each) => each.cluster === cluster).sort((a, b) => ((a.notAfter ?? "9") < (b.notAfter ?? "9") ? -1 : 1));
}

function clustersByName(snapshot: Snapshot): ReadonlyMap<string, KubernetesCluster> {
  return new Map([...snapshot.of(KubernetesCluster)].map((cluster) => [cluster.metadata.name, cluster]));
}
