import { Destination, type VirtualMesh } from "@isthmus/api";
import {
  type CooperativeTask,
  type EntryChange,
  emptyTable,
  keyOf,
  keyOfResource,
  type ObjectRef,
  type Report,
  refOf,
  type Snapshot,
  type Table,
} from "@isthmus/core";
import { reportOf } from "../../findings.ts";
import { derived, updated } from "../../incremental/derived.ts";
import { inputKind, inputTable, join } from "../../incremental/join.ts";
import type { Matching } from "../../incremental/matching.ts";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import { isSame, reuseIfEqual } from "../../incremental/rows.ts";
import { transition } from "../../incremental/transition.ts";
import type { AppliedFederation } from "../../meshes/meshTranslator.ts";
import { translatorOf } from "../../meshes/meshTranslators.ts";
import { byMesh } from "../../policy/indexes.ts";
import { selectedDestinations } from "../../policy/selection.ts";
import { type AttachedMesh, unchangedOr, withDestinationStatus } from "../meshes.ts";
import type { AttachmentStep } from "../step.ts";
import { appliedFederationOf, changedFederation } from "./federation.ts";
import {
  callingClusters,
  type FederationCandidate,
  type FederationSizes,
  noFederationSizes,
  updateFederationSizes,
} from "./federationSizes.ts";
import { type Memberships, meshKey, meshKeysOf } from "./virtualMeshes.ts";

/** Where one Destination would be federated to, and what is against it. There is none for those that are not selected. */
export interface FederationDecision {
  /** Of the Destination. */
  readonly key: string;
  /** Undefined where it can't be. */
  readonly federation: AppliedFederation | undefined;
  /** Why it can't be, or not to all of them: reports on (VirtualMesh, Destination). */
  readonly reports: readonly Report[];
  readonly candidate: FederationCandidate | undefined;
}

/** Destinations as policies are judged by. */
export interface PolicyDestinations {
  /** With nothing in their statuses but where they are federated to. */
  readonly known: Table<Destination>;
  readonly federation: Table<FederationDecision>;
  readonly loads: FederationSizes;
}

/** No Destination. */
export function noPolicyDestinations(): PolicyDestinations {
  return { known: emptyTable(keyOfResource), federation: emptyTable(({ key }) => key), loads: noFederationSizes() };
}

/** The tables from which it follows where Destinations are federated to. */
export interface FederationTables {
  readonly inputs: Snapshot;
  readonly membership: Memberships;
  readonly meshes: Table<AttachedMesh>;
  readonly federation: Table<FederationDecision>;
  readonly loads: FederationSizes;
  /** Clusters in which nothing is written for now. */
  readonly observed: ReadonlySet<string>;
}

const destinations = inputKind<FederationTables, Destination>(Destination);
const attachedMeshes = inputTable(
  ({ meshes }: FederationTables) => meshes,
  ({ key }) => key,
);
const virtualMeshes = inputTable(({ membership }: FederationTables) => acceptedVirtualMeshes(membership), keyOfResource);
const acceptedVirtualMeshes = memoizeRow(({ accepted }: Memberships) =>
  emptyTable<VirtualMesh>(keyOfResource).with(accepted.map((virtualMesh) => [keyOfResource(virtualMesh), virtualMesh])),
);

/** A Destination and the VirtualMesh of its mesh; of those that are accepted, no two name one mesh. */
const federatingVirtualMesh: Matching<Destination, VirtualMesh> = {
  find: (destination, table) => byMesh(destination).flatMap((mesh) => table.where(meshKeysOf, mesh)),
  *findBack(virtualMesh, table) {
    for (const mesh of meshKeysOf(virtualMesh)) yield* table.where(byMesh, mesh);
  },
  *findBackChanged(before, after, table) {
    const differing = changedFederation(before)(after);
    if (differing === "all") {
      for (const mesh of new Set([...meshKeysOf(before), ...meshKeysOf(after)])) yield* table.where(byMesh, mesh);
      return;
    }
    const members = new Set(meshKeysOf(after));
    for (const { destinationSelectors } of differing) {
      for (const one of selectedDestinations(destinationSelectors, table)) if (byMesh(one).some((mesh) => members.has(mesh))) yield one;
    }
  },
  isSameAsking: (before, after) => isSame(byMesh(before), byMesh(after)),
  isSameFound: (before, after) => changedFederation(before)(after).length === 0,
  indexes: [meshKeysOf],
  backIndexes: [byMesh],
};

const virtualMesh = join({ from: destinations, to: virtualMeshes, matching: federatingVirtualMesh, isSame: () => true });

/** Where each Destination would be federated to. */
const federationDecisions = derived({
  from: destinations,
  context: ({ observed }) => observed,
  joins: {
    virtualMesh,
    mesh: join({ from: destinations, key: byMesh, to: attachedMeshes, select: ({ gateways }) => gateways }),
    // Whether they can call others is asked by all that are federated to them.
    meshes: join({ from: virtualMesh.source, key: meshesOfFederation, to: attachedMeshes, isShared: true, isSame: isSameFace }),
  },
  make: (destination, { key, lookup, context, before }): FederationDecision | undefined => {
    const [federating] = lookup("virtualMesh");
    const federation = appliedFederationOf(destination, federating, context);
    if (federating === undefined || federation === undefined || lookup("mesh").length === 0) return undefined;
    return reuseDecision(decisionOn({ key, destination, federating, federation }, lookup("meshes")), before);
  },
});

/** The meshes of a VirtualMesh, and those that its selectors name. */
function meshesOfFederation(virtualMesh: VirtualMesh): readonly string[] {
  const selectors = virtualMesh.spec?.federation?.selectors ?? NONE;
  const named = selectors.flatMap(({ meshes = NONE }) => meshes.map(meshKey));
  return named.length === 0 ? meshKeysOf(virtualMesh) : [...new Set([...meshKeysOf(virtualMesh), ...named])].sort();
}

function isSameFace(before: AttachedMesh, after: AttachedMesh): boolean {
  return before.view === after.view;
}

interface Candidate {
  readonly key: string;
  readonly destination: Destination;
  readonly federating: VirtualMesh;
  readonly federation: AppliedFederation;
}

function decisionOn({ key, destination, federating, federation }: Candidate, meshes: readonly AttachedMesh[]): FederationDecision {
  const { meshOf, reachable, calling } = meshesKnown(meshes);
  const rules = translatorOf(meshOf(destination.spec?.mesh ?? {}))?.federation;
  const withheld = rules?.withheld?.(destination, federation) ?? NONE;
  const refusals = withheld.length > 0 ? withheld : (rules?.refusals(destination, federation, meshOf) ?? NONE);
  const reports = refusals.map((one) => reportOf(refOf(federating), one, refOf(destination)));
  if (withheld.length > 0 || refusals.some(({ state }) => state === "INVALID"))
    return { key, federation: undefined, reports, candidate: undefined };
  const { federatedToMeshes: named = NONE } = federation;
  // Each list is shared by many, and so is what follows from it.
  const federatedToMeshes = refusals.length === 0 ? named : (reachable.get(named) ?? rules?.meshesThatResolve(federation, meshOf) ?? named);
  if (refusals.length > 0) reachable.set(named, federatedToMeshes);
  const clusters = calling.get(federatedToMeshes) ?? callingClusters(destination, federatedToMeshes, meshOf);
  calling.set(federatedToMeshes, clusters);
  const objects = rules?.objectsAtHome?.(destination, federation) ?? 0;
  return {
    key,
    federation: federatedToMeshes === named ? federation : { ...federation, federatedToMeshes },
    reports: reports.length === 0 ? NONE : reports,
    candidate: {
      virtualMesh: keyOfResource(federating),
      clusters,
      atHome: objects === 0 ? undefined : { clusterName: destination.spec?.kubeService?.ref?.clusterName ?? "", objects },
    },
  };
}

/** What is known of the meshes of a federation, for all of its Destinations. */
const meshesKnown = memoizeRow((meshes: readonly AttachedMesh[]) => {
  const byKey = new Map(meshes.map(({ key, mesh }) => [key, mesh]));
  return {
    meshOf: (ref: Partial<ObjectRef>) => byKey.get(meshKey(ref)),
    reachable: new Map<readonly ObjectRef[], readonly ObjectRef[]>(),
    calling: new Map<readonly ObjectRef[], readonly string[]>(),
  };
});

function reuseDecision(now: FederationDecision, before: FederationDecision | undefined): FederationDecision {
  if (before === undefined) return now;
  const federation = now.federation && reuseIfEqual(now.federation, before.federation);
  const reports = reuseIfEqual(now.reports, before.reports);
  const candidate = now.candidate && reuseIfEqual(now.candidate, before.candidate);
  const isAsBefore = federation === before.federation && reports === before.reports && candidate === before.candidate;
  return isAsBefore ? before : { key: now.key, federation, reports, candidate };
}

const decision = join({
  from: destinations,
  to: inputTable(
    ({ federation }: FederationTables) => federation,
    ({ key }) => key,
  ),
});

/** Destinations as policies are judged by. */
const knownDestinations = derived({
  from: destinations,
  context: () => undefined,
  joins: {
    decision,
    // How much a federation writes is known when all its services are; whether that is too much bears on each of them.
    size: join({
      from: decision.source,
      key: byFederating,
      to: inputTable(
        ({ loads }: FederationTables) => loads.verdicts,
        ({ key }) => key,
      ),
      isSame: (before, after) => before.isRefused === after.isRefused,
    }),
  },
  make: (destination, { lookup, before }): Destination => {
    const isTooMuch = lookup("size")[0]?.isRefused === true;
    const appliedFederation = isTooMuch ? undefined : lookup("decision")[0]?.federation;
    if (appliedFederation === undefined && destination.status === undefined) return destination;
    return unchangedOr(withDestinationStatus(destination, appliedFederation === undefined ? {} : { appliedFederation }), before);
  },
});

function byFederating({ candidate }: FederationDecision): readonly string[] {
  return candidate === undefined ? NONE : [candidate.virtualMesh];
}

/** What decides where Destinations are federated to. */
export type FederationSources = Pick<FederationTables, "membership" | "meshes">;

/** Policies are judged by what is federated where, so that comes before them. */
export function* policyDestinations(
  step: AttachmentStep,
  before: PolicyDestinations & FederationSources,
  sources: FederationSources,
): CooperativeTask<PolicyDestinations> {
  const { inputs, since } = step;
  const { observedClusters: observed } = step.translationContext;
  const was = since && { inputs: since.inputs, observed: since.translationContext.observedClusters, ...before };
  const earlier = since && was && { before: was, changes: since.changes };
  const after = (now: Partial<FederationTables>) =>
    transition<FederationTables>({ ...before, ...sources, inputs, observed, ...now }, earlier);
  const federation = yield* updated(before.federation, federationDecisions, after({}));
  const changes = since?.changes.between(federation, before.federation) ?? federation.changesSince(before.federation);
  const loads = updateFederationSizes(step, changes.map(candidates), before.loads);
  const known = yield* updated(before.known, knownDestinations, after({ federation, loads }));
  return { known, federation, loads };
}

function candidates({ key, before, after }: EntryChange<FederationDecision>): EntryChange<FederationCandidate> {
  return { key, before: before?.candidate, after: after?.candidate };
}

const NONE: readonly never[] = [];

/** Destinations by each mesh that they are federated to. */
export function byFederatedTo({ status }: Destination): readonly string[] {
  return keysOfMeshes(status?.appliedFederation?.federatedToMeshes ?? NONE);
}

// One list for many Destinations.
const keysOfMeshes = memoizeRow((refs: readonly ObjectRef[]) => refs.map((ref) => keyOf({ ...ref, clusterName: "" })));
