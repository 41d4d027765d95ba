import { type IssuedCertificate, Pod, type VirtualMesh } from "@isthmus/api";
import { matchesLabels, type Snapshot } from "@isthmus/core";
import { istioSidecar } from "@isthmus/translators";
import type { Member } from "./trustRequests.ts";

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
  /** Owners of these pods, the first as namespace/name. */
  readonly workloads: number;
  /** Pods with a proxy whose owner has no other one: while it restarts there is none, and a budget may forbid it. */
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
 * with one pod the first 20 are named.
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
  let controlPlanePods = 0;
  let proxies = 0;
  const owners = new Map<string, number>();
  for (const pod of snapshot.of(Pod)) {
    const place = pod.metadata.namespace ?? "";
    if (place === namespace && Object.keys(podLabels).length > 0 && matchesLabels(podLabels, pod.metadata.labels)) controlPlanePods += 1;
    if (!istioSidecar.isInjected(pod)) continue;
    proxies += 1;
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true);
    const key = `${place}/${owner?.name ?? pod.metadata.name}`;
    owners.set(key, (owners.get(key) ?? 0) + 1);
  }
  const single = [...owners].filter(([, count]) => count === 1).map(([key]) => key);
  const { state, error, restart, isMultiRoot } = reported?.status ?? {};
  const { step, waitsFor = [] } = reported?.spec?.trust ?? {};
  return {
    sequence: isMultiRoot === true ? "MULTI_ROOT" : "STANDARD",
    rounds: 3,
    controlPlaneNamespace: spec.issuedCertificateSecret?.namespace ?? namespace,
    controlPlaneLabels: podLabels,
    controlPlanePods,
    proxies,
    workloads: owners.size,
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

const MOST_NAMED = 20;
