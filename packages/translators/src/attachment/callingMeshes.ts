import { type AccessPolicy, type Destination, Mesh } from "@isthmus/api";
import { exactly, type Snapshot, type Table } from "@isthmus/core";
import type { Changes } from "../incremental/changes.ts";
import { clustersOfCallers, trustDomainOf } from "../networking/istio/callers.ts";
import type { CheckedAccess } from "./policies.ts";
import { selectedDestinations } from "./selection.ts";

/** The meshes with a trust domain that callers may be of whom some AccessPolicies name; in key order within each cluster. */
export function callingMeshes(policies: readonly AccessPolicy[], inputs: Snapshot): readonly Mesh[] {
  const clusters = new Set(policies.flatMap(clustersOfCallers));
  if (clusters.size === 0) return NONE;
  const meshes = inputs.of(Mesh);
  if (clusters.has(ANY)) return meshes.where(byPlaceOfTrust, ANY);
  return exactly([...clusters].sort().flatMap((clusterName) => meshes.where(byPlaceOfTrust, clusterName)));
}

/** The Destinations with AccessPolicies that name callers of clusters in which a trust domain came, went or changed. */
export function* destinationsCalled(
  changes: Changes,
  { access, known }: { readonly access: Table<CheckedAccess>; readonly known: Table<Destination> },
): Iterable<Destination> {
  const clusters = new Set<string>();
  for (const { before, after } of changes.of(Mesh)) {
    const [was, is] = [before && trustDomainOf(before), after && trustDomainOf(after)];
    if (was?.trustDomain === is?.trustDomain && was?.clusterName === is?.clusterName) continue;
    for (const place of [was, is]) if (place !== undefined) clusters.add(ANY).add(place.clusterName);
  }
  for (const clusterName of clusters) {
    for (const { selectors } of access.where(byCallers, clusterName))
      for (const list of selectors) yield* selectedDestinations(list, known);
  }
}

/** Any cluster: as AccessPolicies say it. */
const ANY = "";
const NONE: readonly never[] = [];

/** Meshes that name a trust domain, by their cluster and under `ANY`. */
function byPlaceOfTrust(mesh: Mesh): readonly string[] {
  const place = trustDomainOf(mesh);
  return place === undefined ? [] : [...new Set([ANY, place.clusterName])];
}

/** AccessPolicies by the clusters of which they name callers, as they are written or were last in force. */
function byCallers({ policy, bearing: { written, last } }: CheckedAccess): readonly string[] {
  const forms = [...(written === undefined ? [] : [policy]), ...(last?.held.form === undefined ? [] : [last.held.form])];
  return [...new Set(forms.flatMap(clustersOfCallers))];
}
