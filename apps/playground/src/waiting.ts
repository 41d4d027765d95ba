import { Mesh, type TrafficPolicy, TrafficPolicy as TrafficPolicyKind, VirtualMesh, VirtualService } from "@isthmus/api";
import type { Kind, Resource } from "@isthmus/core";
import { type Cluster, systemClock } from "@isthmus/plane";
import type { SimulatedCluster } from "@isthmus/simulator";
import type { Demo } from "./demo.ts";
import { demoVirtualMeshOf } from "./trust/virtualMesh.ts";

/** When the demo gives up waiting, in milliseconds: a hundred times what it takes on an idle machine, as one may be busy. */
export const DEMO_LIMIT_MS = 120_000;

/** Waits until `holds` is true, and gives the milliseconds that took. Rejects, saying `what`, after `limitMs`. */
export async function until(
  what: string,
  holds: () => Promise<boolean>,
  { limitMs, signal }: { readonly limitMs: number; readonly signal: AbortSignal },
): Promise<number> {
  const started = performance.now();
  while (!(await holds())) {
    if (performance.now() - started > limitMs) throw new Error(`timed out after ${limitMs / 1000} s: ${what}`);
    await systemClock.sleep(20, signal);
  }
  return performance.now() - started;
}

/** Whether the meshes that the VirtualMesh joins are discovered. */
export async function areMeshesKnown({ management, workload }: Demo): Promise<boolean> {
  const { spec } = demoVirtualMeshOf(workload.map(({ name }) => name));
  const found = await Promise.all((spec?.meshes ?? []).map(({ name = "", namespace = "" }) => management.get(Mesh, { name, namespace })));
  return found.every((mesh) => mesh !== undefined);
}

/** Whether the meshes are joined and everything that this takes is in the clusters. */
export function isFederated(demo: Demo): Promise<boolean> {
  return isApplied(demo.management, VirtualMesh, { name: "bookinfo", namespace: "gloo-mesh" });
}

/** Whether a policy of the demo is in force: its status says that all that came of it is in the clusters. */
export function isPolicyApplied(demo: Demo, policy: TrafficPolicy): Promise<boolean> {
  return isApplied(demo.management, TrafficPolicyKind, { name: policy.metadata.name, namespace: policy.metadata.namespace ?? "" });
}

async function isApplied(cluster: Cluster, kind: Kind, ref: { readonly name: string; readonly namespace: string }): Promise<boolean> {
  const found = (await cluster.get(kind, ref)) as (Resource & { readonly status?: Status }) | undefined;
  const { status } = found ?? {};
  if (found === undefined || status?.observedGeneration !== found.metadata.generation) return false;
  return status?.state === "ACCEPTED" && (status.conditions ?? []).some(({ type, status }) => type === "Applied" && status === "True");
}

/** The errors that the status of a policy has within seconds; none where it is accepted, or where nobody says anything of it. */
export async function statusErrorsOf(cluster: SimulatedCluster, policy: Resource, signal: AbortSignal): Promise<readonly string[]> {
  const { apiVersion, kind, metadata } = policy;
  const statusNow = () =>
    cluster.object({ apiVersion, kind, name: metadata.name, namespace: metadata.namespace ?? "" })?.["status"] as Status | undefined;
  await until("its status", () => Promise.resolve(statusNow()?.state !== undefined), { limitMs: STATUS_MS, signal }).catch(() => undefined);
  const { state, errors = [], destinations = {} } = statusNow() ?? {};
  return state === "ACCEPTED" ? [] : [...new Set([...errors, ...Object.values(destinations).flatMap((one) => one.errors ?? [])])];
}

const STATUS_MS = 5_000;

interface Status {
  readonly errors?: readonly string[];
  readonly destinations?: Readonly<Record<string, { readonly errors?: readonly string[] }>>;
  readonly state?: string;
  readonly observedGeneration?: number;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/** The clusters in which the VirtualService of reviews itself carries a timeout. */
export async function clustersWithTimeout(demo: Demo, timeout: string): Promise<readonly string[]> {
  const found = await Promise.all(
    demo.workload.map(async (cluster) => {
      const service = await cluster.get(VirtualService, { name: "reviews", namespace: "bookinfo" });
      return (service?.spec?.http ?? []).some((route) => route.timeout === timeout) ? [cluster.name] : [];
    }),
  );
  return found.flat();
}
