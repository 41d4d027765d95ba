import type { AccessPolicy, Mesh } from "@isthmus/api";
import { equalJson, exactly, internList, keyOf, keyOfResource, type Resource } from "@isthmus/core";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import type { AlikeMeshes } from "../../meshes/inputs.ts";
import { translatorOf } from "../../meshes/meshTranslators.ts";
import { clustersOfCallers } from "../../policy/callerClusters.ts";
import type { TrustDomain } from "../../policy/trustDomain.ts";
import type { AttachedPolicies } from "../attachedPolicies.ts";
import type { AttachedMesh } from "../meshes.ts";

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

/** Whether two versions of a mesh have the same trust domain, for the same reason, and the same place in a Cluster Mesh of Cilium. */
export function isSameTrust(before: Mesh, after: Mesh): boolean {
  const [was, is] = [trustDomainOf(before), trustDomainOf(after)];
  return was?.trustDomain === is?.trustDomain && was?.problem === is?.problem && equalJson(before.spec?.cilium, after.spec?.cilium);
}

/** Meshes by their trust domain. */
export function byTrustDomain(mesh: Mesh): readonly string[] {
  const { trustDomain } = trustDomainOf(mesh) ?? {};
  return trustDomain === undefined ? NONE : [trustDomain];
}

/** The same of those with their VirtualMesh. */
export function byAttachedTrustDomain({ view }: AttachedMesh): readonly string[] {
  return byTrustDomain(view);
}

/** The trust domains that the rules of a mesh take for one another; none where it has no alias. */
export function byTakenForOneAnother({ view }: AttachedMesh): readonly string[] {
  const { trustDomain, aliases = [] } = trustDomainOf(view) ?? {};
  return trustDomain === undefined || aliases.length === 0 ? NONE : [...new Set([trustDomain, ...aliases])].sort();
}

/** Where callers with a trust domain come from. */
interface TrustPlace extends TrustDomain {
  /** `keyOf` its VirtualMesh, if it is in one. */
  readonly virtualMesh: string | undefined;
}

export const trustPlaceOf = memoizeRow(({ view, mesh }: AttachedMesh): TrustPlace => {
  const { clusterName = "", trustDomain = "" } = trustDomainOf(view) ?? {};
  const { ref } = mesh.status?.appliedVirtualMesh ?? {};
  return { clusterName, trustDomain, virtualMesh: ref && keyOf({ clusterName: "", ...ref }) };
});

/** Those of them that a VirtualMesh joins, and the others: the very same lists for all Destinations for which they are the same. */
export function alikeAmong(places: readonly TrustPlace[], virtualMesh: Resource | undefined, before: AlikeMeshes | undefined): AlikeMeshes {
  if (places.length === 0) return NO_ALIKE;
  const key = virtualMesh && keyOfResource(virtualMesh);
  const distinct = [...new Set(places)];
  const next = {
    joined: internList(exactly(distinct.filter((place) => key !== undefined && place.virtualMesh === key))),
    elsewhere: internList(exactly(distinct.filter((place) => key === undefined || place.virtualMesh !== key))),
  };
  return before !== undefined && equalJson(before, next) ? before : next;
}

const NO_ALIKE: AlikeMeshes = { joined: [], elsewhere: [] };

function trustDomainOf(mesh: Mesh): TrustDomain | undefined {
  return translatorOf(mesh)?.trustDomainOf?.(mesh);
}

/** Any cluster: as AccessPolicies say it. */
const ANY = "";
const ANYWHERE: readonly string[] = [ANY];
const NONE: readonly never[] = [];
