import { Pod } from "@isthmus/api";
import { type Kind, type LabelSelector, matchesLabels, matchesSelector, type Resource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { istioSidecar } from "@isthmus/translators";

interface PodDisruptionBudget extends Resource {
  readonly spec?: { readonly selector?: LabelSelector };
  readonly status?: {
    readonly disruptionsAllowed?: number;
    readonly expectedPods?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
  };
}

const PodDisruptionBudgets: Kind<PodDisruptionBudget> = {
  apiVersion: "policy/v1",
  kind: "PodDisruptionBudget",
  plural: "poddisruptionbudgets",
  namespaced: true,
  versions: ["policy/v1"],
  parse: (input) => input as PodDisruptionBudget,
};

/** The control plane of a mesh. */
export interface ControlPlane {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Of each PodDisruptionBudget of a cluster that permits no eviction of a pod with a proxy, or of these control planes, a sentence. Throws ClusterError. */
export async function blockingBudgets(
  cluster: Cluster,
  controlPlanes: readonly ControlPlane[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { items: budgets } = await cluster.list(PodDisruptionBudgets, {}, signal);
  const closed = budgets.filter(({ status }) => (status?.disruptionsAllowed ?? 0) < 1);
  if (closed.length === 0) return [];
  const { items: pods } = await cluster.list(Pod, {}, signal);
  const restarting = pods.filter((pod) => istioSidecar.isInjected(pod) || controlPlanes.some((one) => isOf(pod, one)));
  return closed.filter((budget) => restarting.some((pod) => isCovered(pod, budget))).map(sentenceOf);
}

function isOf({ metadata }: Pod, { namespace, labels }: ControlPlane): boolean {
  return metadata.namespace === namespace && Object.keys(labels).length > 0 && matchesLabels(labels, metadata.labels);
}

/** Without a selector it covers no pod. Source: Kubernetes, policy/v1. */
function isCovered({ metadata }: Pod, budget: PodDisruptionBudget): boolean {
  const { selector } = budget.spec ?? {};
  return selector !== undefined && budget.metadata.namespace === metadata.namespace && matchesSelector(selector, metadata.labels);
}

function sentenceOf({ metadata, status = {} }: PodDisruptionBudget): string {
  const { currentHealthy = 0, desiredHealthy = 0 } = status;
  return (
    `PodDisruptionBudget ${metadata.namespace ?? ""}/${metadata.name} permits no disruption (${currentHealthy} pods are healthy, ${desiredHealthy} are needed): ` +
    "add a replica, or let it permit one"
  );
}
