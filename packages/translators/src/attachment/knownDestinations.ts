import { Destination, type VirtualMesh } from "@isthmus/api";
import { type Change, emptyTable, keyOf, keyOfResource, type ObjectRef, type Report, refOf, type Table } from "@isthmus/core";
import { reported } from "../findings.ts";
import { keysOf, remade, steady } from "../incremental/rows.ts";
import { federationRefusals } from "../networking/istio/virtualMesh/federationRefusals.ts";
import type { AttachmentStep } from "./attachment.ts";
import { appliedFederationOf, changedFederation } from "./federation.ts";
import { byMesh } from "./indexes.ts";
import { type AttachedMesh, unchangedOr } from "./meshes.ts";
import { selectedDestinations } from "./selection.ts";
import { type Memberships, meshKey, meshKeysOf } from "./virtualMeshes.ts";

/** Why a service is not federated although its VirtualMesh says so: reports on (VirtualMesh, Destination). */
export interface FederationRefusal {
  /** Of the Destination. */
  readonly key: string;
  readonly reports: readonly Report[];
}

/** Destinations as policies are judged by. */
export interface KnownDestinations {
  /** With nothing in their statuses but where they are federated to. */
  readonly known: Table<Destination>;
  readonly refusals: Table<FederationRefusal>;
}

/** No Destination. */
export function noDestinations(): KnownDestinations {
  return { known: emptyTable(keyOfResource), refusals: emptyTable(({ key }) => key) };
}

/** What decides where Destinations are federated to. */
export interface FederationSources {
  readonly membership: Memberships;
  /** The meshes whose VirtualMesh is not as it was. */
  readonly changed: readonly Change<VirtualMesh>[];
  readonly meshes: Table<AttachedMesh>;
  readonly meshChanges: readonly Change<AttachedMesh>[];
}

/** Policies are judged by what is federated where, so that comes before them. */
export function knownDestinations(step: AttachmentStep, before: KnownDestinations, sources: FederationSources): KnownDestinations {
  const destinations = step.inputs.of(Destination);
  const attachedMesh = (ref: Partial<ObjectRef>) => sources.meshes.row(meshKey(ref))?.mesh;
  const refusals: (readonly [string, FederationRefusal | undefined])[] = [];
  const known = remade(before.known, affectedDestinations(step, sources), (key, row) => {
    const destination = destinations.row(key);
    const virtualMesh = sources.membership.virtualMeshOf.get(meshKey(destination?.spec?.mesh ?? {}));
    const wanted = destination === undefined ? undefined : appliedFederationOf(destination, virtualMesh);
    const refusal = destination && virtualMesh && wanted && federationRefusals(destination, wanted, attachedMesh);
    const reports = destination && virtualMesh && (refusal ?? []).map((one) => reported(refOf(virtualMesh), one, refOf(destination)));
    const isRefused = reports !== undefined && reports.length > 0;
    refusals.push([key, isRefused ? steady({ key, reports }, before.refusals.row(key)) : undefined]);
    if (destination === undefined) return undefined;
    const appliedFederation = isRefused ? undefined : wanted;
    if (appliedFederation === undefined && destination.status === undefined) return destination;
    return unchangedOr({ ...destination, status: appliedFederation === undefined ? {} : { appliedFederation } }, row);
  });
  return { known, refusals: before.refusals.with(refusals) };
}

/** The Destinations that changed, or whose VirtualMesh may federate them to other meshes or under another name. */
function affectedDestinations({ inputs, since }: AttachmentStep, sources: FederationSources): Iterable<string> {
  const destinations = inputs.of(Destination);
  if (since === undefined) return keysOf(destinations);
  const affected = new Set(since.changes.of(Destination).map(({ key }) => key));
  const add = (destination: Destination) => affected.add(keyOfResource(destination));
  const addMesh = (key: string) => destinations.where(byMesh, key).forEach(add);
  // A VirtualMesh has many meshes.
  const selectors = new Map<VirtualMesh, ReturnType<typeof changedFederation>>();
  for (const { key, before, after } of sources.changed) {
    if (before === undefined || after === undefined || keyOfResource(before) !== keyOfResource(after)) {
      addMesh(key);
      continue;
    }
    const known = selectors.get(after);
    const differing = known ?? changedFederation(before, after);
    selectors.set(after, differing);
    if (differing === "all") addMesh(key);
    else if (known === undefined) {
      for (const { destinationSelectors } of differing)
        for (const one of selectedDestinations(destinationSelectors, destinations)) add(one);
    }
  }
  for (const { key, before, after } of sources.meshChanges) {
    if (before?.mesh.spec === after?.mesh.spec) {
      // Its gateways are the way to its own services.
      if (before?.gateways !== after?.gateways) addMesh(key);
      continue;
    }
    // Whether it can call others is asked by all that are federated to it.
    const virtualMesh = sources.membership.virtualMeshOf.get(key);
    for (const member of virtualMesh === undefined ? [key] : meshKeysOf(virtualMesh)) addMesh(member);
  }
  return affected;
}

/** Destinations by each mesh that they are federated to. */
export function byFederatedTo({ status }: Destination): readonly string[] {
  return (status?.appliedFederation?.federatedToMeshes ?? []).map((ref) => keyOf({ ...ref, clusterName: "" }));
}
