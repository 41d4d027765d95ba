import { type IssuedCertificate, Pod, ReplicaSet, type VirtualMesh } from "@isthmus/api";
import { compareKeys, matchesLabels, type Snapshot } from "@isthmus/core";
import { istioSidecar } from "@isthmus/translators";
import { isReplacing, ROLLED_OUT } from "../../runtime/controllerKinds.ts";
import type { Member } from "./trustRequests.ts";

/** `ROLLOUT`, or by evictions where what makes its pods leaves some as they are; `NONE`: nothing replaces its pods, which their users restart. */
export type RestartWay = "ROLLOUT" | "EVICTION" | "NONE";

/** What the agent does to one workload in each round. */
export interface WorkloadForecast {
  /** namespace/name */
  readonly workload: string;
  readonly pods: number;
  readonly way: RestartWay;
}

/** What changes of a mesh's certificates restart, by what its agent has reported. */
export interface RestartForecast {
  /**
   * `STANDARD`: each round of a root rotation restarts the control plane and all proxies. `MULTI_ROOT`: they take over roots while they run, and
   * what does not within minutes restarts.
   */
  readonly sequence: "STANDARD" | "MULTI_ROOT";
  /** Of a root rotation. */
  readonly rounds: number;
  readonly controlPlaneNamespace: string;
  readonly controlPlaneLabels: Readonly<Record<string, string>>;
  readonly controlPlanePods: number;
  /** Pods with a proxy in its cluster: with several control planes those of all of them. */
  readonly proxies: number;
  /** Owners of these pods. */
  readonly workloads: number;
  /** What the agent does to each of them, and to the control plane, by name: the first 200. */
  readonly restarts?: readonly WorkloadForecast[];
  /** How many these are in all. */
  readonly restartCount?: number;
  /** How many are restarted by evictions, which PodDisruptionBudgets may forbid. */
  readonly evicted?: number;
  /** Workloads that are evicted and have one pod with a proxy: while it restarts there is none, and a budget may forbid it. */
  readonly single: readonly string[];
  readonly singleCount: number;
  /** Whether the agent restarts them. */
  readonly autoRestartPods: boolean;
  readonly isConnected: boolean;
  /** How far the last change is, as the agent reports: PENDING … FINISHED, FAILED. */
  readonly state?: string;
  readonly step?: string;
  readonly error?: string;
  /** What it restarts now, or why it does not. */
  readonly restart?: string;
  readonly waitsFor: readonly string[];
}

/**
 * Counts the Pods of `snapshot`, that of the mesh's cluster. `reported`: the IssuedCertificate as the agent last reported it; of workloads
 * with one pod that are evicted the first 20 are named.
 */
export function restartForecast(
  { mesh, spec }: Member,
  {
    virtualMesh,
    snapshot,
    reported,
    isConnected,
  }: {
    readonly virtualMesh: VirtualMesh;
    readonly snapshot: Snapshot;
    readonly reported: IssuedCertificate | undefined;
    readonly isConnected: boolean;
  },
): RestartForecast {
  const { namespace = "", podLabels = {} } = mesh.spec?.istio?.installation ?? {};
  const { state, error, restart, isMultiRoot, restartsByRollout = false } = reported?.status ?? {};
  let controlPlanePods = 0;
  let proxies = 0;
  const [owners, controlPlane] = [new Map<string, WorkloadForecast>(), new Map<string, WorkloadForecast>()];
  const count = (pod: Pod, among: Map<string, WorkloadForecast>): void => {
    const { kind, name } = ownerOf(pod, snapshot) ?? { kind: "", name: pod.metadata.name };
    const workload = `${pod.metadata.namespace ?? ""}/${name}`;
    const way = restartsByRollout && ROLLED_OUT.has(kind) ? "ROLLOUT" : isReplacing(kind) ? "EVICTION" : "NONE";
    among.set(`${kind} ${workload}`, { workload, pods: (among.get(`${kind} ${workload}`)?.pods ?? 0) + 1, way });
  };
  for (const pod of snapshot.of(Pod)) {
    const isThere = pod.metadata.namespace === namespace && Object.keys(podLabels).length > 0;
    if (isThere && matchesLabels(podLabels, pod.metadata.labels)) {
      controlPlanePods += 1;
      count(pod, controlPlane);
    }
    if (!istioSidecar.isInjected(pod)) continue;
    proxies += 1;
    count(pod, owners);
  }
  const single = [...owners.values()].filter(({ pods, way }) => pods === 1 && way !== "ROLLOUT").map(({ workload }) => workload);
  const all = [...controlPlane.values(), ...owners.values()];
  const { step, waitsFor = [] } = reported?.spec?.trust ?? {};
  return {
    sequence: isMultiRoot === true ? "MULTI_ROOT" : "STANDARD",
    rounds: 3,
    controlPlaneNamespace: spec.issuedCertificateSecret?.namespace ?? namespace,
    controlPlaneLabels: podLabels,
    controlPlanePods,
    proxies,
    workloads: owners.size,
    restarts: all.sort((a, b) => compareKeys(a.workload, b.workload)).slice(0, MOST_LISTED),
    restartCount: all.length,
    evicted: all.filter(({ way }) => way === "EVICTION").length,
    single: single.sort().slice(0, MOST_NAMED),
    singleCount: single.length,
    autoRestartPods: virtualMesh.spec?.mtlsConfig?.autoRestartPods === true,
    isConnected,
    ...(state === undefined ? {} : { state }),
    ...(step === undefined ? {} : { step }),
    ...(error === undefined ? {} : { error }),
    ...(restart === undefined ? {} : { restart }),
    waitsFor,
  };
}

/** What makes the pod: of a Deployment this itself. */
function ownerOf({ metadata }: Pod, snapshot: Snapshot): { readonly kind: string; readonly name: string } | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner?.kind !== ReplicaSet.kind) return owner;
  const { namespace = "", clusterName = "" } = metadata;
  const replicaSet = snapshot.of(ReplicaSet).get({ name: owner.name, namespace, clusterName });
  return replicaSet?.metadata.ownerReferences?.find(({ controller }) => controller === true) ?? owner;
}

const MOST_NAMED = 20;
const MOST_LISTED = 200;
