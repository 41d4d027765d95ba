import {
  AccessPolicy,
  type Destination,
  type DestinationSelector,
  type IdentitySelector,
  ineffectiveFields,
  TrafficPolicy,
  type Workload,
  type WorkloadSelector,
} from "@isthmus/api";
import { matchesLabels } from "@isthmus/core";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { serviceOf } from "./hosts/serviceRefs.ts";

const { destinationSelector, sourceSelector } = TrafficPolicy.definition.fields.spec.properties;
const identitySelector = AccessPolicy.definition.fields.spec.properties.sourceSelector;

/** Whether every member of an entry is known and has an effect. */
export const isUnderstoodDestination = memoizeRow(
  (entry: DestinationSelector) => ineffectiveFields(destinationSelector.items, entry, "").length === 0,
);
const isUnderstoodWorkload = memoizeRow((entry: WorkloadSelector) => ineffectiveFields(sourceSelector.items, entry, "").length === 0);
const isUnderstoodIdentity = memoizeRow((entry: IdentitySelector) => ineffectiveFields(identitySelector.items, entry, "").length === 0);

/**
 * Whether some entry selects a Destination; an empty list selects every one. Only Kubernetes services can be selected by an entry.
 * An entry with a member that is not understood selects nothing, as leaving the member out could widen it.
 */
export function selectsDestination(selectors: readonly DestinationSelector[] | undefined, destination: Destination): boolean {
  if (selectors === undefined || selectors.length === 0) return true;
  return selectors.some((selector) => entrySelects(selector, destination));
}

/** Whether one entry selects a Destination. */
export function entrySelects(selector: DestinationSelector, destination: Destination): boolean {
  if (!isUnderstoodDestination(selector)) return false;
  const { kubeServiceMatcher, kubeServiceRefs } = selector;
  const service = destination.spec?.kubeService;
  if (service?.ref === undefined) return false;
  const { name, namespace, clusterName } = service.ref;
  if (kubeServiceMatcher !== undefined) {
    const { labels, namespaces, clusters } = kubeServiceMatcher;
    if (matchesLabels(labels, service.labels) && isIn(namespaces, namespace) && isIn(clusters, clusterName)) return true;
  }
  return (kubeServiceRefs?.services ?? []).some((ref) => {
    const wanted = serviceOf(ref);
    return wanted.name === name && wanted.namespace === namespace && wanted.clusterName === clusterName;
  });
}

/** Whether an entry names nothing at all, so that it selects nothing. */
export function namesNothing({ kubeServiceRefs, virtualDestinationRefs, ...others }: DestinationSelector): boolean {
  const named = (kubeServiceRefs?.services ?? []).length + (virtualDestinationRefs?.virtualDestinations ?? []).length;
  return named === 0 && Object.keys(others).length === 0;
}

/** Whether some entry selects a Workload; an empty list, as well as an empty entry, selects every one. */
export function selectsWorkload(selectors: readonly WorkloadSelector[] | undefined, workload: Workload): boolean {
  if (selectors === undefined || selectors.length === 0) return true;
  const kubernetes = workload.spec?.kubernetes;
  if (kubernetes === undefined) return false;
  return selectors.some((selector) => {
    if (!isUnderstoodWorkload(selector)) return false;
    const { labels, namespaces, clusters } = selector.kubeWorkloadMatcher ?? {};
    const { namespace = "", clusterName = "" } = kubernetes.controller ?? {};
    return matchesLabels(labels, kubernetes.podLabels) && isIn(namespaces, namespace) && isIn(clusters, clusterName);
  });
}

/** Whether some entry selects the identity of a Workload; an empty list, as well as an empty entry, selects every one. */
export function selectsIdentity(selectors: readonly IdentitySelector[] | undefined, workload: Workload): boolean {
  if (selectors === undefined || selectors.length === 0) return true;
  const kubernetes = workload.spec?.kubernetes;
  if (kubernetes === undefined) return false;
  const { namespace = "", clusterName = "" } = kubernetes.controller ?? {};
  const name = kubernetes.serviceAccountName || "default";
  return selectors.some((selector) => {
    const { kubeIdentityMatcher, kubeServiceAccountRefs } = selector;
    if (!isUnderstoodIdentity(selector)) return false;
    if (kubeIdentityMatcher === undefined && kubeServiceAccountRefs === undefined) return true;
    if (kubeIdentityMatcher !== undefined) {
      const { namespaces, clusters } = kubeIdentityMatcher;
      if (isIn(namespaces, namespace) && isIn(clusters, clusterName)) return true;
    }
    return (kubeServiceAccountRefs?.serviceAccounts ?? []).some(
      (account) => isAny(account.name, name) && isAny(account.namespace, namespace) && isAny(account.clusterName, clusterName),
    );
  });
}

/** Whether a list names a value; an empty list is any. */
function isIn(list: readonly string[] | undefined, value: string): boolean {
  return list === undefined || list.length === 0 || list.includes(value);
}

/** Whether a desired value is this one; an empty one is any. */
function isAny(wanted: string | undefined, value: string): boolean {
  return wanted === undefined || wanted === "" || wanted === value;
}
