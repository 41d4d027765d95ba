import type { KubernetesCluster } from "@isthmus/api";
import { ageText } from "../output/age.ts";
import { columnsText } from "../output/columns.ts";
import { wrapped } from "../output/fit.ts";
import { type ClusterMode, clusterModeOf, countsText, exampleLines, hasWhatIsDesired } from "./comparisonText.ts";
import { type Sample, samplesIn } from "./metricsText.ts";

/** How far a cluster has what is desired. What only a server knows is undefined where none was asked. */
export interface ClusterSync extends ClusterMode {
  readonly cluster: string;
  readonly state: string;
  /** `True`, `False` or `Unknown`. */
  readonly synced: string;
  /** Objects that the agent has reported. */
  readonly reported?: number;
  /** Objects that wait to be sent. */
  readonly queued?: number;
  /** Revisions that were sent and not acknowledged. */
  readonly unacknowledged?: number;
  /** Objects that the agent fails or refuses to apply. */
  readonly rejected?: number;
  /** Age of the oldest change that is not acknowledged. */
  readonly lagSeconds?: number;
  /** Of the condition Lagging, or else of the first that is not as it should be. */
  readonly message: string;
}

const REPORTED = "relay_server_reported_objects";
const QUEUED = "relay_server_outbox_objects";
const UNACKNOWLEDGED = "relay_server_unacknowledged_revisions";
const REJECTED = "relay_server_objects_rejected";
const LAG = "relay_server_lag_seconds";

/** From the registered clusters, and the metrics of a server where one was asked. */
export function clusterSyncs(clusters: readonly KubernetesCluster[], metrics: string | undefined): readonly ClusterSync[] {
  const samples = metrics === undefined ? undefined : samplesIn(metrics, [REPORTED, QUEUED, UNACKNOWLEDGED, REJECTED, LAG]);
  return clusters
    .map((cluster): ClusterSync => {
      const { name } = cluster.metadata;
      const { state = "REGISTERED", conditions = [] } = cluster.status ?? {};
      return {
        cluster: name,
        state,
        synced: conditions.find(({ type }) => type === "Synced")?.status ?? "Unknown",
        ...clusterModeOf(cluster),
        ...(samples === undefined ? {} : measured(samples, name)),
        message: messageIn(conditions) || modeMessage(clusterModeOf(cluster)),
      };
    })
    .toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1));
}

/** An agent is connected to one of the replicas: another one says nothing of it. */
function measured(samples: readonly Sample[], cluster: string): Partial<ClusterSync> {
  const of = (name: string) => samples.filter((sample) => sample.name === name && sample.labels["cluster"] === cluster);
  const sum = (name: string): number | undefined => {
    const found = of(name);
    return found.length === 0 ? undefined : found.reduce((total, { value }) => total + value, 0);
  };
  const figures = {
    reported: sum(REPORTED),
    queued: sum(QUEUED),
    unacknowledged: sum(UNACKNOWLEDGED),
    rejected: sum(REJECTED),
    lagSeconds: sum(LAG),
  };
  return Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== undefined));
}

type Conditions = NonNullable<NonNullable<KubernetesCluster["status"]>["conditions"]>;

function messageIn(conditions: Conditions): string {
  const lagging = conditions.find(({ type, status }) => type === "Lagging" && status === "True");
  const away = conditions.find(({ type, status }) => (type === "Connected" || type === "Synced") && status !== "True");
  return lagging?.message ?? away?.message ?? "";
}

function modeMessage({ mode, acknowledged }: ClusterMode): string {
  return acknowledged === undefined ? "" : `mode ${mode} is not acknowledged yet: the agent is in mode ${acknowledged}`;
}

/** Whether a cluster is connected and nothing in it differs from what is desired. */
export function isInSync(sync: ClusterSync): boolean {
  return sync.state === "CONNECTED" && hasWhatIsDesired(sync);
}

/** As a table; figures that no server was asked for are left out. Below it, for each cluster that is not managed, what would be written. */
export function syncText(
  syncs: readonly ClusterSync[],
  { isMeasured, width }: { readonly isMeasured: boolean; readonly width?: number },
): string {
  const figures = isMeasured ? ["REPORTED", "QUEUED", "UNACKED", "REJECTED", "LAG"] : [];
  const rows = syncs.map((sync) => [
    sync.cluster,
    sync.state,
    sync.synced,
    ...(isMeasured
      ? [sync.reported, sync.queued, sync.unacknowledged, sync.rejected].map((value) => (value === undefined ? "" : String(value)))
      : []),
    ...(isMeasured ? [sync.lagSeconds === undefined ? "" : lagText(sync.lagSeconds)] : []),
    sync.mode,
    sync.message,
  ]);
  const table = columnsText(["CLUSTER", "STATE", "SYNCED", ...figures, "MODE", "MESSAGE"], rows, { width, isSentenceLast: true });
  return [table, ...syncs.filter(({ mode }) => mode !== "manage").map((sync) => pendingText(sync, width ?? WIDEST))].join("\n");
}

// In a pipe a line stays whole.
const WIDEST = Number.MAX_SAFE_INTEGER;

function pendingText(sync: ClusterSync, columns: number): string {
  const head = wrapped(`${sync.cluster} (${sync.mode}): ${countsText(sync)}`, columns);
  return [...head, ...exampleLines(sync, columns)].map((line) => `${line}\n`).join("");
}

function lagText(seconds: number): string {
  return ageText(new Date(0).toISOString(), seconds * 1000) ?? "";
}
