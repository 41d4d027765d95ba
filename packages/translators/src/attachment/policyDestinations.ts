import { Destination, VirtualMesh } from "@isthmus/api";
import {
  type CooperativeTask,
  type EntryChange,
  emptyTable,
  keyOf,
  keyOfResource,
  type ObjectRef,
  type Report,
  refOf,
  type Table,
  withEach,
} from "@isthmus/core";
import { reportOf } from "../findings.ts";
import { keysOf, recompute, reuseIfEqual } from "../incremental/rows.ts";
import { translatorOf } from "../meshes/meshTranslators.ts";
import { byMesh } from "../policy/indexes.ts";
import { selectedDestinations } from "../policy/selection.ts";
import type { AttachmentStep } from "./attachment.ts";
import { appliedFederationOf, changedFederation } from "./federation.ts";
import {
  callingClusters,
  type FederationCandidate,
  type FederationSizes,
  noFederationSizes,
  reuseCandidateIfEqual,
  updateFederationSizes,
} from "./federationSizes.ts";
import { type AttachedMesh, unchangedOr, withDestinationStatus } from "./meshes.ts";
import { type Memberships, meshKey, meshKeysOf } from "./virtualMeshes.ts";

/** Why a service is not federated although its VirtualMesh says so: reports on (VirtualMesh, Destination). */
export interface FederationRefusal {
  /** Of the Destination. */
  readonly key: string;
  readonly reports: readonly Report[];
}

/** Destinations as policies are judged by. */
export interface PolicyDestinations {
  /** With nothing in their statuses but where they are federated to. */
  readonly known: Table<Destination>;
  readonly refusals: Table<FederationRefusal>;
  readonly loads: FederationSizes;
}

/** No Destination. */
export function noPolicyDestinations(): PolicyDestinations {
  return { known: emptyTable(keyOfResource), refusals: emptyTable(({ key }) => key), loads: noFederationSizes() };
}

/** What decides where Destinations are federated to. */
export interface FederationSources {
  readonly membership: Memberships;
  /** The meshes whose VirtualMesh is not as it was. */
  readonly changed: readonly EntryChange<VirtualMesh>[];
  readonly meshes: Table<AttachedMesh>;
  readonly meshChanges: readonly EntryChange<AttachedMesh>[];
}

/** Policies are judged by what is federated where, so that comes before them. */
export function* policyDestinations(
  step: AttachmentStep,
  before: PolicyDestinations,
  sources: FederationSources,
): CooperativeTask<PolicyDestinations> {
  const destinations = step.inputs.of(Destination);
  const { membership } = sources;
  const verdicts = verdictsOn(step, before, sources);
  const affected = new Set(affectedDestinations(step, sources));
  const demands: (readonly [string, FederationCandidate | undefined])[] = [];
  for (const key of affected) {
    demands.push([key, verdicts(key).demand]);
    yield;
  }
  const loads = yield* updateFederationSizes(step, demands, before.loads);
  // How much a federation writes is known when all its services are; whether that is too much bears on each of them.
  for (const { key, before: was, after } of loads.verdicts.changesSince(before.loads.verdicts)) {
    if (was?.isRefused === after?.isRefused || (was ?? after)?.isRefused === false) continue;
    const virtualMesh = step.inputs.of(VirtualMesh).row(key);
    for (const mesh of virtualMesh === undefined ? [] : meshKeysOf(virtualMesh)) {
      for (const destination of destinations.where(byMesh, mesh)) affected.add(keyOfResource(destination));
    }
  }
  const refusals: (readonly [string, FederationRefusal | undefined])[] = [];
  const known = yield* recompute(before.known, affected, (key, row) => {
    const destination = destinations.row(key);
    const { wanted, reports } = verdicts(key);
    refusals.push([key, reports.length > 0 ? reuseIfEqual({ key, reports }, before.refusals.row(key)) : undefined]);
    if (destination === undefined) return undefined;
    const virtualMesh = membership.virtualMeshOf.get(meshKey(destination.spec?.mesh ?? {}));
    const isTooMuch = virtualMesh !== undefined && loads.verdicts.row(keyOfResource(virtualMesh))?.isRefused === true;
    const appliedFederation = isTooMuch ? undefined : wanted;
    if (appliedFederation === undefined && destination.status === undefined) return destination;
    return unchangedOr(withDestinationStatus(destination, appliedFederation === undefined ? {} : { appliedFederation }), row);
  });
  return { known, refusals: yield* withEach(before.refusals, refusals), loads };
}

interface FederationVerdict {
  readonly wanted: ReturnType<typeof appliedFederationOf>;
  /** Why it can't be, or not to all of them, on the Destination. */
  readonly reports: readonly Report[];
  readonly demand: FederationCandidate | undefined;
}

/** Where each Destination would be federated to, and what is against it; each is asked once. */
function verdictsOn(
  { inputs }: AttachmentStep,
  before: PolicyDestinations,
  sources: FederationSources,
): (key: string) => FederationVerdict {
  const made = new Map<string, FederationVerdict>();
  const clusters = new Map<readonly ObjectRef[], readonly string[]>();
  const reachable = new Map<readonly ObjectRef[], readonly ObjectRef[]>();
  const attachedMesh = (ref: Partial<ObjectRef>) => sources.meshes.row(meshKey(ref))?.mesh;
  function verdictOn(key: string): FederationVerdict {
    const destination = inputs.of(Destination).row(key);
    const virtualMesh = sources.membership.virtualMeshOf.get(meshKey(destination?.spec?.mesh ?? {}));
    const wanted = destination === undefined ? undefined : appliedFederationOf(destination, virtualMesh);
    if (destination === undefined || virtualMesh === undefined || wanted === undefined) return NOT_FEDERATED;
    const federation = translatorOf(attachedMesh(destination.spec?.mesh ?? {}))?.federation;
    const refusals = federation?.refusals(destination, wanted, attachedMesh) ?? [];
    const reports = refusals.map((one) => reportOf(refOf(virtualMesh), one, refOf(destination)));
    if (refusals.some(({ state }) => state === "INVALID")) return { wanted: undefined, reports, demand: undefined };
    const { federatedToMeshes: named = [] } = wanted;
    // Each list is shared by many.
    const federatedToMeshes =
      refusals.length === 0 ? named : (reachable.get(named) ?? federation?.meshesThatResolve(wanted, attachedMesh) ?? named);
    if (refusals.length > 0) reachable.set(named, federatedToMeshes);
    // All services of a mesh that are federated alike share the list.
    const calling = clusters.get(federatedToMeshes) ?? callingClusters(destination, federatedToMeshes, attachedMesh);
    clusters.set(federatedToMeshes, calling);
    const demand = reuseCandidateIfEqual(
      { key, virtualMesh: keyOfResource(virtualMesh), clusters: calling },
      before.loads.demands.row(key),
    );
    return { wanted: federatedToMeshes === named ? wanted : { ...wanted, federatedToMeshes }, reports, demand };
  }
  return (key) => {
    const verdict = made.get(key) ?? verdictOn(key);
    made.set(key, verdict);
    return verdict;
  };
}

const NOT_FEDERATED: FederationVerdict = { wanted: undefined, reports: [], demand: undefined };

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
      // Also those that are federated with it: where to, and whether they can be, may be another answer.
      for (const virtualMesh of [before, after])
        for (const member of virtualMesh === undefined ? [] : meshKeysOf(virtualMesh)) addMesh(member);
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
    if (before?.face === after?.face) {
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
