import { AccessPolicy, type TrafficPolicy, type Workload, type WorkloadSelector } from "@isthmus/api";
import { labelKey } from "./indexes.ts";
import type { PolicyLimit } from "./policyScope.ts";

/** What a Workload has by which policies select their sources: workloads are found by it, and so are the policies that may be about one. */
export function selectableTraitsOf({ spec }: Workload): readonly string[] {
  if (spec?.kubernetes === undefined) return NONE;
  const { controller, podLabels = {}, serviceAccountName } = spec.kubernetes;
  const { namespace = "", clusterName = "" } = controller ?? {};
  const labels = Object.entries(podLabels).map(([key, value]) => labelTrait(key, value));
  return [accountTrait(serviceAccountName || "default", namespace), namespaceTrait(namespace), clusterTrait(clusterName), ...labels];
}

/** For each entry of a policy's sourceSelector a trait, or several, one of which all that it selects have; "any" where it names none. */
export function selectedTraitsOf(policy: TrafficPolicy | AccessPolicy): readonly string[] | "any" {
  const lists = isAccessPolicy(policy)
    ? (policy.spec?.sourceSelector ?? []).map(traitsOfIdentities)
    : (policy.spec?.sourceSelector ?? []).map(traitsOfEntry);
  return unionOf(lists);
}

/** The same for a list of selectors of workloads. */
export function traitsOfSources(selectors: readonly WorkloadSelector[]): readonly string[] | "any" {
  return unionOf(selectors.map(traitsOfEntry));
}

function traitsOfEntry({ kubeWorkloadMatcher }: WorkloadSelector): readonly string[] | "any" {
  return traitsOfWorkloads(kubeWorkloadMatcher ?? {});
}

function unionOf(lists: readonly (readonly string[] | "any")[]): readonly string[] | "any" {
  const traits = new Set<string>();
  for (const list of lists) {
    if (list === "any") return "any";
    for (const trait of list) traits.add(trait);
  }
  // An empty list selects every one.
  return lists.length === 0 ? "any" : [...traits];
}

/** The trait of all that is within a limit; "any" without one. */
export function traitsOfLimit({ clusterName, namespace }: PolicyLimit): readonly string[] | "any" {
  return traitsOfPlaces(namespace === undefined ? NONE : [namespace], clusterName === undefined ? NONE : [clusterName]);
}

/** Whether a policy is an AccessPolicy. */
export function isAccessPolicy(policy: TrafficPolicy | AccessPolicy): policy is AccessPolicy {
  return policy.kind === AccessPolicy.kind;
}

const NONE: readonly never[] = [];

type IdentitySelector = NonNullable<NonNullable<AccessPolicy["spec"]>["sourceSelector"]>[number];
type WorkloadMatcher = NonNullable<NonNullable<NonNullable<TrafficPolicy["spec"]>["sourceSelector"]>[number]["kubeWorkloadMatcher"]>;

function traitsOfWorkloads({ labels = {}, namespaces = NONE, clusters = NONE }: WorkloadMatcher): readonly string[] | "any" {
  const [label] = Object.entries(labels);
  return label === undefined ? traitsOfPlaces(namespaces, clusters) : [labelTrait(...label)];
}

function traitsOfIdentities({ kubeIdentityMatcher, kubeServiceAccountRefs }: IdentitySelector): readonly string[] | "any" {
  if (kubeIdentityMatcher === undefined && kubeServiceAccountRefs === undefined) return "any";
  const { namespaces = NONE, clusters = NONE } = kubeIdentityMatcher ?? {};
  const lists = [
    kubeIdentityMatcher === undefined ? NONE : traitsOfPlaces(namespaces, clusters),
    ...(kubeServiceAccountRefs?.serviceAccounts ?? NONE).map(({ name, namespace, clusterName }) => {
      if (name && namespace) return [accountTrait(name, namespace)];
      return traitsOfPlaces(namespace ? [namespace] : NONE, clusterName ? [clusterName] : NONE);
    }),
  ];
  return lists.includes("any") ? "any" : lists.flat();
}

function traitsOfPlaces(namespaces: readonly string[], clusters: readonly string[]): readonly string[] | "any" {
  if (namespaces.length > 0) return namespaces.map(namespaceTrait);
  return clusters.length > 0 ? clusters.map(clusterTrait) : "any";
}

// None names a cluster beside something else: a trait that services of all clusters share takes no more room than they do.
function accountTrait(name: string, namespace: string): string {
  return `account ${name}.${namespace}`;
}

function namespaceTrait(namespace: string): string {
  return `namespace ${namespace}`;
}

function clusterTrait(clusterName: string): string {
  return `cluster ${clusterName}`;
}

function labelTrait(key: string, value: string): string {
  return `label ${labelKey(key, value)}`;
}
