import { type AnyResource, kindKeyOf, type LabelSelector, matchesSelector, type ResourceRef } from "@isthmus/core";
import { ClusterError, type Preconditions } from "@isthmus/ports";
import type { SimulatedState } from "./state.ts";
import { deleteObject } from "./writes.ts";

/** The fields of a PodDisruptionBudget that decide. */
interface Budget extends AnyResource {
  readonly spec?: { readonly selector?: LabelSelector };
  readonly status?: { readonly disruptionsAllowed?: number; readonly currentHealthy?: number; readonly desiredHealthy?: number };
}

/**
 * Deletes a pod unless the status of a PodDisruptionBudget forbids it. That status is its writer's: nothing here counts pods. Throws
 * ClusterError: `Blocked`, in the words of an API server, or as `deleteObject`. Source: Kubernetes, pkg/registry/core/pod/storage/eviction.go.
 */
export function evictUnlessForbidden(state: SimulatedState, pod: ResourceRef, preconditions: Preconditions): void {
  const found = state.find(pod);
  const budget = found !== undefined && isCounted(found) ? forbidding(state, found) : undefined;
  if (budget !== undefined) {
    const { currentHealthy = 0, desiredHealthy = 0 } = budget.status ?? {};
    const message = `The disruption budget ${budget.metadata.name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
    throw new ClusterError("Blocked", message);
  }
  deleteObject(state, pod, preconditions);
}

function forbidding(state: SimulatedState, { metadata }: AnyResource): Budget | undefined {
  const budgets = [...state.all()]
    .filter(({ kindKey }) => kindKey === BUDGETS)
    .flatMap(({ store }) => store.resources as readonly Budget[]);
  return budgets.find(
    ({ metadata: { namespace }, spec, status }) =>
      namespace === metadata.namespace &&
      matchesSelector(spec?.selector ?? {}, metadata.labels) &&
      status?.disruptionsAllowed !== undefined &&
      status.disruptionsAllowed <= 0,
  );
}

/** What does not run, or goes already, disrupts nothing. */
function isCounted({ metadata, status }: AnyResource): boolean {
  const { phase } = (status ?? {}) as { readonly phase?: string };
  return phase === "Running" && metadata.deletionTimestamp === undefined;
}

const BUDGETS = kindKeyOf({ apiVersion: "policy/v1", kind: "PodDisruptionBudget" });
