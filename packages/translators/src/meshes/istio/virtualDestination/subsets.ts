import type { Subset, TrafficPolicy, VirtualDestination } from "@isthmus/api";
import { equalJson, formatRef, keyOf, matchesLabels, type Report, refOf } from "@isthmus/core";
import { reportOf, warningFinding } from "../../../findings.ts";
import { serviceOf } from "../../../policy/hosts/serviceRefs.ts";
import type { VirtualDestinationInputs } from "../../inputs.ts";
import { subsetNameOf } from "../subsets.ts";
import type { Labels } from "../virtualMesh/endpoints.ts";

type Asked = Pick<VirtualDestinationInputs, "virtualDestination" | "subsetPolicies">;

/** The subsets of a host that traffic shifts ask for, each once, in the order they are first named. */
export function virtualSubsetsOf({ virtualDestination, subsetPolicies }: Asked): readonly Subset[] {
  const found: Subset[] = [];
  for (const { labels } of subsetPolicies.flatMap((policy) => [...wantedBy(policy, virtualDestination)])) {
    if (!found.some((subset) => equalJson(subset.labels, labels))) found.push({ name: subsetNameOf(labels), labels });
  }
  return found;
}

/** Of a pod's labels those by which it is in the subsets that it is in: seen from other clusters, pods with the same are one. */
export function subsetLabelsOf(labels: Labels, subsets: readonly Subset[]): Labels {
  return Object.fromEntries(subsets.flatMap((subset) => (isInSubset(labels, subset) ? Object.entries(subset.labels ?? {}) : [])));
}

/** Subsets in which none of the pods behind a host is; nothing is said while there are no pods. */
export function subsetReports({ virtualDestination, subsetPolicies }: Asked, pods: readonly Labels[]): readonly Report[] {
  if (pods.length === 0) return [];
  return subsetPolicies.flatMap((policy) =>
    [...wantedBy(policy, virtualDestination)].flatMap(({ labels, position }) => {
      if (pods.some((pod) => isInSubset(pod, { labels }))) return [];
      const asked = Object.entries(labels).map(([key, value]) => `${key}: ${value}`);
      const path = `spec.policy.trafficShift.destinations[${position}].virtualDestination.subset`;
      const message = `${path}: no pod behind ${formatRef(refOf(virtualDestination))} has ${asked.join(", ")}: requests to this subset fail`;
      return [reportOf(refOf(policy), warningFinding("SubsetUnknown", message))];
    }),
  );
}

/** Whether an endpoint or a pod with these labels is in a subset. */
export function isInSubset(labels: Labels | undefined, subset: Pick<Subset, "labels">): boolean {
  return matchesLabels(subset.labels ?? {}, labels ?? {});
}

interface Wanted {
  readonly labels: Labels;
  /** In the list of its traffic shift. */
  readonly position: number;
}

function* wantedBy({ spec }: TrafficPolicy, { metadata }: VirtualDestination): Iterable<Wanted> {
  const own = keyOf({ name: metadata.name, namespace: metadata.namespace ?? "", clusterName: "" });
  for (const [position, { virtualDestination }] of (spec?.policy?.trafficShift?.destinations ?? []).entries()) {
    const { subset = {} } = virtualDestination ?? {};
    if (virtualDestination === undefined || Object.keys(subset).length === 0) continue;
    if (keyOf({ ...serviceOf(virtualDestination), clusterName: "" }) === own) yield { labels: subset, position };
  }
}
