import { type Destination, Mesh, VirtualDestination } from "@isthmus/api";
import { type Change, keyOfResource, type Table } from "@isthmus/core";
import { versionsOf } from "../incremental/changes.ts";
import { keysOf } from "../incremental/rows.ts";
import { serviceKeyOf } from "../networking/istio/hostnames.ts";
import type { AttachmentStep } from "./attachment.ts";
import { byCluster, byMesh, byServiceName } from "./indexes.ts";
import { byFederatedTo } from "./knownDestinations.ts";
import { changedSelectors } from "./policies.ts";
import { byReferredService, byVirtualDestination } from "./policyReferences.ts";
import { selectedDestinations } from "./selection.ts";
import type { StandingSources } from "./standings.ts";
import { type HostClaim, serviceNamesOf } from "./userObjects.ts";

/** The Destinations on which something may bear that did not, or no longer. */
export function affectedDestinations(step: AttachmentStep, now: StandingSources, before: StandingSources): ReadonlySet<string> {
  const { since, surroundings } = step;
  if (since === undefined || since.surroundings !== surroundings) return new Set([...keysOf(now.known), ...keysOf(before.known)]);
  const { known, traffic, access } = now;
  const knownChanges = known.changesSince(before.known);
  const affected = new Set(knownChanges.map(({ key }) => key));
  const add = (destination: Destination) => affected.add(keyOfResource(destination));

  const selectors = [...changedSelectors(traffic, before.traffic), ...changedSelectors(access, before.access)];
  for (const policy of referringTo(knownChanges, step, now)) selectors.push(policy.spec?.destinationSelector);
  for (const list of selectors) for (const destination of selectedDestinations(list, known)) add(destination);

  for (const { key, before: was, after } of now.meshes.changesSince(before.meshes)) {
    if (was?.face === after?.face) continue;
    known.where(byMesh, key).forEach(add);
    known.where(byFederatedTo, key).forEach(add);
  }
  for (const claim of versionsOf(now.claims.changesSince(before.claims))) {
    for (const destination of seenWith(claim, step, known)) add(destination);
  }
  return affected;
}

/** The sound TrafficPolicies that refer to something that changed. */
function* referringTo(knownChanges: readonly Change<Destination>[], { since }: AttachmentStep, { traffic }: StandingSources) {
  for (const destination of versionsOf(knownChanges)) {
    const service = serviceKeyOf(destination);
    if (service !== undefined) for (const { policy } of traffic.where(byReferredService, service)) yield policy;
  }
  for (const { key } of since?.changes.of(VirtualDestination) ?? []) {
    for (const { policy } of traffic.where(byVirtualDestination, key)) yield policy;
  }
}

/** The Destinations whose hosts an object of a user may be about. */
function* seenWith(claim: HostClaim, { inputs }: AttachmentStep, known: Table<Destination>): Iterable<Destination> {
  const names = serviceNamesOf(claim);
  for (const name of names === "any" ? [] : names) yield* known.where(byServiceName, name);
  if (names !== "any") return;
  const { clusterName = "" } = claim.object.metadata;
  yield* known.where(byCluster, clusterName);
  for (const mesh of inputs.of(Mesh)) {
    if (mesh.spec?.istio?.installation?.cluster === clusterName) yield* known.where(byFederatedTo, keyOfResource(mesh));
  }
}
