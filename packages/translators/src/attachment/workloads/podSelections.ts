import type { Destination, Mesh, Pod, Settings } from "@isthmus/api";
import { equalJson } from "@isthmus/core";
import type { LookupTable } from "../../incremental/lookupTable.ts";
import type { Matching } from "../../incremental/matching.ts";
import { keyIn } from "../../policy/indexKeys.ts";
import { indexedLabelPair, namespaceLocationOf, pairsOf, podsByLabel, podsByNamespace, podsSelectedBy } from "../../policy/podIndexes.ts";
import type { NamespaceLocation } from "../../policy/policyScope.ts";
import type { AttachedPolicies } from "../attachedPolicies.ts";

/** By what a Service selects its pods. */
export interface PodSelection {
  readonly place: NamespaceLocation;
  /** At least one. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The pods of a Destination in a cluster with Cilium, while the Settings ask what its network layer does with them. */
export function podSelectionOf({ spec }: Destination, mesh: Mesh | undefined, settings: Settings | undefined): PodSelection | undefined {
  const { ref, workloadSelectorLabels = {} } = spec?.kubeService ?? {};
  const { accessPolicies = "DISABLED" } = settings?.spec?.cilium ?? {};
  if (accessPolicies === "DISABLED" || mesh?.spec?.cilium === undefined || ref === undefined) return undefined;
  if (Object.keys(workloadSelectorLabels).length === 0) return undefined;
  return { place: { namespace: ref.namespace, clusterName: ref.clusterName }, labels: workloadSelectorLabels };
}

/** What bears on a Destination, and the pods behind it. */
export const selectedPods: Matching<AttachedPolicies, Pod> = {
  find: ({ podSelection }, pods) => (podSelection === undefined ? NONE : podsSelectedBy(podSelection.labels, podSelection.place, pods)),
  *findBack(pod, from: LookupTable<AttachedPolicies>) {
    const place = namespaceLocationOf(pod);
    for (const pair of ["", ...pairsOf(pod.metadata.labels)]) yield* from.where(byPodSelection, keyIn(place, pair));
  },
  isSameAsking: (before, after) => equalJson(before.podSelection, after.podSelection),
  isSameFound: (before, after) => equalJson(before.metadata.labels, after.metadata.labels),
  indexes: [podsByNamespace, podsByLabel],
  backIndexes: [byPodSelection],
};

/** By `keyIn` of one telling label pair that pods are selected by; by "" without one. */
function byPodSelection({ podSelection }: AttachedPolicies): readonly string[] {
  return podSelection === undefined ? NONE : [keyIn(podSelection.place, indexedLabelPair(podSelection.labels) ?? "")];
}

const NONE: readonly never[] = [];
