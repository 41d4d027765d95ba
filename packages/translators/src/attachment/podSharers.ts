import type { Destination, Workload } from "@isthmus/api";
import { equalJson, keyOfResource, matchesLabels } from "@isthmus/core";
import { isSame } from "../incremental/rows.ts";
import type { PodSharer } from "../meshes/inputs.ts";
import type { AttachedPolicies } from "./attachedPolicies.ts";

/** Whether two versions of a Service select the same pods, by the same ports. */
export function isSameOnPods(before: Destination, after: Destination): boolean {
  const [left, right] = [before.spec?.kubeService, after.spec?.kubeService];
  return (
    equalJson(left?.ref, right?.ref) &&
    equalJson(left?.workloadSelectorLabels, right?.workloadSelectorLabels) &&
    equalJson(left?.ports, right?.ports) &&
    equalJson(portsOfEndpoints(before), portsOfEndpoints(after))
  );
}

function portsOfEndpoints({ spec }: Destination) {
  return (spec?.kubeService?.endpointSubsets ?? []).map(({ ports }) => ports);
}

/** Whether the same AccessPolicies bear on a Service. */
export function isSameAccess(before: AttachedPolicies, after: AttachedPolicies): boolean {
  return isSame(before.accessPolicies, after.accessPolicies) && isSame(before.heldAccess, after.heldAccess);
}

/** The other Services that select a pod of one, with what bears on them. `before` is given where nothing of that changed. */
export function podSharersOf(
  known: Destination,
  workloads: readonly Workload[],
  candidates: { readonly destinations: readonly Destination[]; readonly policies: readonly AttachedPolicies[] },
  before: readonly PodSharer[] | undefined,
): readonly PodSharer[] {
  const own = keyOfResource(known);
  const policies = new Map(candidates.policies.map((one) => [one.key, one]));
  const others = [...new Set(candidates.destinations)].filter((one) => keyOfResource(one) !== own && selectsOne(one, workloads));
  if (others.length === 0) return NONE;
  const next = others.map((destination): PodSharer => {
    const { accessPolicies = NONE, heldAccess = NONE } = policies.get(keyOfResource(destination)) ?? {};
    const last = before?.find((one) => keyOfResource(one.destination) === keyOfResource(destination));
    const isAsBefore =
      last !== undefined &&
      isSameOnPods(last.destination, destination) &&
      isSame(last.accessPolicies, accessPolicies) &&
      isSame(last.heldAccess, heldAccess);
    return isAsBefore ? last : { destination, accessPolicies, heldAccess };
  });
  return before !== undefined && isSame(before, next) ? before : next;
}

function selectsOne({ spec }: Destination, workloads: readonly Workload[]): boolean {
  const { workloadSelectorLabels = {} } = spec?.kubeService ?? {};
  return workloads.some((workload) => matchesLabels(workloadSelectorLabels, workload.spec?.kubernetes?.podLabels));
}

const NONE: readonly never[] = [];
