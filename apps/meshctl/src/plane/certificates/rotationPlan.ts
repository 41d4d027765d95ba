import type { Entry } from "./entries.ts";

/** What is known of the budgets of one cluster: of each that permits no eviction a sentence. Undefined: nobody looked. */
export type Budgets = ReadonlyMap<string, readonly string[]>;

/** What a rotation does in one mesh. */
export interface MeshPlan {
  readonly mesh: string;
  readonly cluster: string;
  readonly sequence: string;
  readonly rounds: number;
  readonly controlPlanePods: number;
  readonly proxies: number;
  readonly workloads: number;
  /** Who restarts them. */
  readonly restartedBy: "agent" | "you" | "nobody";
  /** What is done to each workload in each round, by name: the first of them. */
  readonly restarts: readonly WorkloadPlan[];
  /** Of all restarts one after the other, an estimate. */
  readonly seconds: number;
  /** What has to change before it comes to an end. */
  readonly blockers: readonly string[];
  /** What is worth knowing before. */
  readonly notes: readonly string[];
}

/** How a workload restarts. */
export interface WorkloadPlan {
  readonly workload: string;
  readonly pods: number;
  readonly way: "rollout" | "eviction" | "you";
}

/** What a rotation will do. */
export interface RotationPlan {
  readonly certificate: string;
  readonly change: "ROOT" | "INTERMEDIATE";
  readonly meshes: readonly MeshPlan[];
  /** Meshes wait for each other in each round: the slowest one counts. */
  readonly seconds: number;
  /** Whether the budgets of all clusters were looked at. */
  readonly isComplete: boolean;
}

/** The plan of a root's rotation for all of its meshes, or of one mesh's CA, which restarts nothing. */
export function rotationPlan(entry: Entry, entries: readonly Entry[], budgets: Budgets): RotationPlan {
  const isRoot = entry.use === "meshRoot";
  const meshes = isRoot
    ? entries.filter(({ use, virtualMesh }) => use === "meshIntermediate" && virtualMesh !== undefined && virtualMesh === entry.virtualMesh)
    : [entry];
  const plans = meshes.map((mesh) => (isRoot ? rootPlan(mesh, budgets) : reissuePlan(mesh)));
  const seconds = plans.reduce((most, plan) => Math.max(most, plan.seconds), 0);
  const isComplete =
    !isRoot || meshes.every(({ cluster, forecast }) => budgets.has(cluster) || forecast?.sequence === "MULTI_ROOT" || !isEvicted(forecast));
  const name = `${entry.use}/${entry.name}`;
  return { certificate: name, change: isRoot ? "ROOT" : "INTERMEDIATE", meshes: plans, seconds, isComplete };
}

function rootPlan({ name, cluster, forecast }: Entry, budgets: Budgets): MeshPlan {
  if (forecast === undefined) return unknownPlan(name, cluster);
  const { rounds, controlPlanePods, proxies, workloads, single, singleCount, autoRestartPods, controlPlaneNamespace } = forecast;
  if (forecast.sequence === "MULTI_ROOT") return multiRootPlan(name, cluster, forecast);
  // They hold evictions up, and no rollouts.
  const looked = isEvicted(forecast) ? budgets.get(cluster) : NONE;
  const restarts = (forecast.restarts ?? NONE).map(({ workload, pods, way }) => ({ workload, pods, way: wayOf(way, autoRestartPods) }));
  const byRollout = restarts.filter(({ way }) => way === "rollout").length;
  const unlisted = Math.max(0, (forecast.restartCount ?? 0) - restarts.length);
  // Of pods of one workload that are evicted each waits until callers know the one before.
  const siblings = byRollout > 0 ? 0 : Math.max(0, proxies - workloads) + Math.max(0, controlPlanePods - 1);
  const notes = [
    ...(singleCount === 0 ? [] : [`${singleCount} workloads have one pod, and none while it restarts: ${named(single, singleCount)}`]),
    ...(autoRestartPods
      ? []
      : [`autoRestartPods is off: restart istiod in ${controlPlaneNamespace} and all workloads yourself, in each round`]),
    ...(byRollout === 0
      ? []
      : [
          "rollouts keep to the strategy of each workload, and not to PodDisruptionBudgets; a workload that is paused, has the strategy OnDelete or a partition, or whose " +
            "template another program restores, is evicted",
        ]),
    ...(restarts.some(({ way }) => way === "you") && autoRestartPods
      ? ["nothing replaces the pods of some workloads: restart these yourself, in each round"]
      : []),
    ...(unlisted === 0 ? [] : [`${unlisted} more workloads restart in the same way`]),
    ...(looked === undefined ? [`the PodDisruptionBudgets of ${cluster} were not looked at: --workload-context ${cluster}=CONTEXT`] : []),
  ];
  return {
    ...{ mesh: name, cluster, sequence: forecast.sequence, rounds, controlPlanePods, proxies, workloads, restarts, notes },
    restartedBy: autoRestartPods ? "agent" : "you",
    seconds: rounds * ((controlPlanePods + proxies) * SECONDS_PER_POD + siblings * SECONDS_PER_SIBLING + SECONDS_PER_ROUND),
    blockers: [...blockersOf(name, cluster, forecast), ...(looked ?? [])],
  };
}

/** Whether a restart may be forbidden by a budget. Earlier servers do not say it. */
function isEvicted(forecast: Entry["forecast"]): boolean {
  return forecast?.evicted !== 0;
}

function wayOf(way: NonNullable<NonNullable<Entry["forecast"]>["restarts"]>[number]["way"], autoRestartPods: boolean): WorkloadPlan["way"] {
  if (!autoRestartPods || way === "NONE") return "you";
  return way === "ROLLOUT" ? "rollout" : "eviction";
}

const NONE: readonly never[] = [];

/** Control plane and proxies take over the roots while they run. */
function multiRootPlan(name: string, cluster: string, forecast: NonNullable<Entry["forecast"]>): MeshPlan {
  const { sequence, rounds, proxies } = forecast;
  return {
    ...{ mesh: name, cluster, sequence, rounds, controlPlanePods: 0, proxies: 0, workloads: 0, restarts: NONE, restartedBy: "nobody" },
    seconds: rounds * SECONDS_PER_RENEWAL,
    blockers: blockersOf(name, cluster, forecast),
    notes: [
      `nothing restarts: istiod has ISTIO_MULTIROOT_MESH, and ${proxies} proxies renew their certificates while they run; ` +
        "those without PROXY_CONFIG_XDS_AGENT do not, and are to restart in each round",
    ],
  };
}

/** The same root: its control plane reads the new CA by itself. */
function reissuePlan({ name, cluster, forecast }: Entry): MeshPlan {
  if (forecast === undefined) return unknownPlan(name, cluster);
  const { step } = forecast;
  const waiting = step === "TRUST_BOTH" ? [`a change of its root is at step TRUST_BOTH: the CA is issued again with step REISSUE`] : [];
  return {
    ...{
      mesh: name,
      cluster,
      sequence: "RELOAD",
      rounds: 1,
      controlPlanePods: 0,
      proxies: 0,
      workloads: 0,
      restarts: NONE,
      restartedBy: "nobody",
    },
    seconds: SECONDS_PER_RELOAD,
    blockers: [...blockersOf(name, cluster, forecast), ...waiting],
    notes: ["nothing restarts: istiod reads the CA within 3 minutes; proxies get certificates of it as they renew theirs (half of 24 h)"],
  };
}

function blockersOf(
  name: string,
  cluster: string,
  { isConnected, state, error, restart, waitsFor }: NonNullable<Entry["forecast"]>,
): readonly string[] {
  return [
    ...(isConnected ? [] : [`the agent of ${cluster} is not connected: all meshes wait for it, on both roots`]),
    ...(state === undefined ? [`no certificate of ${name} is reported: check the agent of ${cluster}`] : []),
    ...(state === "FAILED" ? [error ?? "the agent gives no reason"] : []),
    ...(restart === undefined || !NOT_EVICTED.some((words) => restart.includes(words)) ? [] : [restart]),
    ...(waitsFor.length === 0 ? [] : [`the change before is not finished: it waits for ${waitsFor.join(", ")}`]),
  ];
}

function unknownPlan(mesh: string, cluster: string): MeshPlan {
  const counts = { rounds: 0, controlPlanePods: 0, proxies: 0, workloads: 0, restarts: NONE, seconds: 0 };
  return {
    mesh,
    cluster,
    sequence: "UNKNOWN",
    ...counts,
    restartedBy: "nobody",
    blockers: ["the server does not know the mesh"],
    notes: [],
  };
}

function named(names: readonly string[], count: number): string {
  const shown = names.slice(0, MOST_NAMED);
  return `${shown.join(", ")}${count > shown.length ? ` and ${count - shown.length} more` : ""}`;
}

/** Words of an agent's report by which it says that a pod stays. Source: packages/plane/src/agent/trust/meshRestarts.ts */
const NOT_EVICTED = ["cannot be evicted", "not evicted"];
// Source: docs/decisions/0059, "10 s each".
const SECONDS_PER_POD = 10;
const SECONDS_PER_SIBLING = 15;
const SECONDS_PER_ROUND = 30;
// Until a kubelet has brought the Secret into istiod twice, and proxies have new certificates. Source: docs/decisions/0134.
const SECONDS_PER_RENEWAL = 240;
// Until a kubelet has brought the Secret into the pod.
const SECONDS_PER_RELOAD = 180;
const MOST_NAMED = 5;
