import type { AccessPolicy, Mesh } from "@isthmus/api";
import { equalJson } from "@isthmus/core";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { translatorOf } from "../meshes/meshTranslators.ts";
import { clustersOfCallers } from "../policy/callerClusters.ts";
import type { TrustDomain } from "../policy/trustDomain.ts";
import type { AttachedPolicies } from "./attachedPolicies.ts";

/**
 * Destinations by the clusters, sorted, of which the AccessPolicies in force on them name callers; by `ANY` alone where that is among them,
 * and where the network layer must let in all callers of the named trust domains.
 */
export function byCallers({ accessPolicies, heldAccess, podSelection }: AttachedPolicies): readonly string[] {
  if (accessPolicies.length === 0 && heldAccess.length === 0) return NONE;
  if (podSelection !== undefined) return ANYWHERE;
  // In each form in which they may be in force.
  const forms: readonly AccessPolicy[] = [...accessPolicies, ...heldAccess.flatMap(({ form }) => form ?? NONE)];
  const [form] = forms;
  return forms.length === 1 && form !== undefined ? callersOf(form) : sortedClusters(forms.flatMap(clustersOfCallers));
}

// Many Destinations have one and the same policy.
const callersOf = memoizeRow((form: AccessPolicy) => sortedClusters(clustersOfCallers(form)));

function sortedClusters(named: readonly string[]): readonly string[] {
  const clusters = new Set(named);
  return clusters.has(ANY) ? ANYWHERE : [...clusters].sort();
}

/** Meshes that name a trust domain, by their cluster and under `ANY`. */
export function byPlaceOfTrust(mesh: Mesh): readonly string[] {
  const place = trustDomainOf(mesh);
  return place === undefined ? NONE : [...new Set([ANY, place.clusterName])];
}

/** Whether two versions of a mesh have the same trust domain, and the same place in a Cluster Mesh of Cilium. */
export function isSameTrust(before: Mesh, after: Mesh): boolean {
  return trustDomainOf(before)?.trustDomain === trustDomainOf(after)?.trustDomain && equalJson(before.spec?.cilium, after.spec?.cilium);
}

function trustDomainOf(mesh: Mesh): TrustDomain | undefined {
  return translatorOf(mesh)?.trustDomainOf?.(mesh);
}

/** Any cluster: as AccessPolicies say it. */
const ANY = "";
const ANYWHERE: readonly string[] = [ANY];
const NONE: readonly never[] = [];
