import type { ClusterClock, ConsoleCertificate } from "@isthmus/console/wire";
import type { Fleet } from "../../data/fleet.ts";
import type { KubernetesCluster } from "../../data/kinds.ts";
import { t } from "../../strings.ts";
import { millisecondsOf } from "../age.ts";
import { insightIndexOf, NO_COUNTS, type SeverityCounts } from "../insights/insightIndex.ts";
import { objectCounts } from "../objectCounts.ts";
import { clusterNames } from "../scope.ts";
import { clusterStatus, type Status } from "../status.ts";
import { type AgentSkew, agentSkew } from "./agentSkew.ts";
import { registrationsIn } from "./registrations.ts";
import { syncTimes } from "./syncTimes.ts";

/** How far a cluster is behind what is desired: since when, in ISO 8601; or `none`, `short` (less than is said of), `unknown`. */
export type ClusterLag = { readonly since: string } | "none" | "short" | "unknown";

/** What the list of clusters shows of one. */
export interface ClusterRow {
  readonly name: string;
  /** Undefined where it is not registered, or the source does not have registrations. */
  readonly cluster: KubernetesCluster | undefined;
  readonly status: Status;
  /** Version of its agent; undefined: it is not known. */
  readonly agent: string | undefined;
  /** That version beside those of the servers; undefined: nothing can be said. */
  readonly skew: AgentSkew | undefined;
  readonly objects: number;
  readonly insights: SeverityCounts;
  /** When its client certificate ends, in ISO 8601. */
  readonly certificateEnds: string | undefined;
  readonly lag: ClusterLag;
  /** p95 of the time that changes took to be applied within the last hour, in seconds; undefined: there was none, or it is not known. */
  readonly syncP95: number | undefined;
  /** The replica to which its agent is connected; undefined: it is not known. */
  readonly replica: string | undefined;
  /** When it was last heard of, in ISO 8601. */
  readonly heardAt: string | undefined;
}

/** All clusters: those that are registered, and those of which something is known. */
export function clusterRows(fleet: Fleet): readonly ClusterRow[] {
  const clusters = new Map(registrationsIn(fleet).map((cluster) => [cluster.metadata.name, cluster]));
  const counts = objectCounts(fleet.snapshot);
  const heard = new Map((fleet.clock?.clusters ?? []).map((entry) => [entry.name, entry]));
  const { byCluster } = insightIndexOf(fleet);
  return clusterNames(fleet).map((name) => {
    const cluster = clusters.get(name);
    const agent = cluster?.status?.agent?.version ?? heard.get(name)?.version;
    return {
      name,
      cluster,
      status: statusOf(cluster, heard.get(name)),
      agent,
      skew: agentSkew(agent, fleet.clock?.servers),
      objects: counts.byCluster.get(name) ?? 0,
      insights: byCluster.get(name) ?? NO_COUNTS,
      certificateEnds: cluster?.status?.agent?.certificateNotAfter,
      lag: lagOf(fleet, cluster, heard.get(name)),
      syncP95: syncP95Of(fleet, name),
      replica: heard.get(name)?.replica,
      heardAt: heard.get(name)?.at ?? undefined,
    };
  });
}

/** A name for one more cluster, that none of these has. */
export function freeName(names: readonly string[]): string {
  let number = 1;
  while (names.includes(`cluster-${number}`)) number++;
  return `cluster-${number}`;
}

/** The state of a cluster: that of its registration, or else what the source knows of its agent. */
function statusOf(cluster: KubernetesCluster | undefined, clock: ClusterClock | undefined): Status {
  if (cluster !== undefined || clock === undefined) return clusterStatus(cluster);
  if (clock.phase === "stale" || clock.connected === false) return { tone: "bad", word: t.states.offline };
  return clock.connected === true ? { tone: "good", word: t.states.connected } : clusterStatus(undefined);
}

function syncP95Of({ activity }: Fleet, name: string): number | undefined {
  const known = activity.get(name);
  return known === undefined ? undefined : syncTimes([known])?.p95;
}

const SILENT_MS = 150_000;

type LagInputs = Pick<Fleet, "source" | "insightsAt"> & { readonly clock?: { readonly now?: string } | undefined };

/** What is applied of a cluster that is not connected is not known, unless something waits. */
export function lagOf(
  { source, insightsAt, clock: { now } = {} }: LagInputs,
  cluster: KubernetesCluster | undefined,
  clock: ClusterClock | undefined,
): ClusterLag {
  const since = clock?.behindSince ?? cluster?.status?.lag?.since;
  if (since !== undefined) return { since };
  const isConnected = clock?.connected ?? cluster?.status?.agent?.connected;
  if (isConnected !== true || clock?.phase !== "synced") return "unknown";
  if (source?.kind === "server") return "none";
  // Servers say in a status that a cluster is behind once it has been so for half a minute, if one runs: the leader says once a minute what it has found.
  const silentMs = (millisecondsOf(now) ?? 0) - (millisecondsOf(insightsAt) ?? 0);
  return cluster !== undefined && silentMs < SILENT_MS ? "short" : "unknown";
}

/** Certificates of one cluster, those that end first before the others. */
export function certificatesOf(fleet: Fleet, cluster: string): readonly ConsoleCertificate[] {
  return fleet.certificates.filter((each) => each.cluster === cluster).sort((a, b) => ((a.notAfter ?? "9") < (b.notAfter ?? "9") ? -1 : 1));
}
