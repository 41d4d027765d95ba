import { Destination, type DestinationSelector, VirtualMesh } from "@isthmus/api";
import { type CooperativeTask, emptyTable, equalJson, keyOfResource, refOf, type Table } from "@isthmus/core";
import { type Finding, reportOf, warningFinding } from "../../findings.ts";
import { type Derived, derived, updated } from "../../incremental/derived.ts";
import { inputKind, inputTable, join } from "../../incremental/join.ts";
import type { MapEntry } from "../../incremental/lookupTable.ts";
import type { Matching } from "../../incremental/matching.ts";
import { transition } from "../../incremental/transition.ts";
import { byLabel, byNamespace, byService, destinationsByCluster } from "../../policy/indexes.ts";
import { isMisspeltSelector } from "../../policy/ineffective.ts";
import { selectedDestinations, selectingCandidates, selectionKeys } from "../../policy/selection.ts";
import { selectsDestination } from "../../policy/selectors.ts";
import { virtualMeshDoubts } from "../../policy/virtualMeshDoubts.ts";
import { meshKey } from "../federation/virtualMeshes.ts";
import type { InputTables } from "../policies.ts";
import type { AttachmentStep } from "../step.ts";
import { causeOfNothing, type KnownPlaces, type PlaceNames, rowOfPlaces } from "./knownPlaces.ts";
import type { SelectionDoubt } from "./selectedNothing.ts";

interface FederationTables extends InputTables {
  readonly places: KnownPlaces;
}

/** No VirtualMesh of which something is to be reported. */
export function noFederationDoubts(): Table<SelectionDoubt> {
  return emptyTable(({ key }) => key);
}

/** The selectors of a VirtualMesh of the management cluster; of one of a workload cluster nothing is reported of what lies beyond. */
function selectorsOf({ metadata, spec }: VirtualMesh): readonly (readonly DestinationSelector[])[] {
  if ((metadata.clusterName ?? "") !== "") return NONE;
  return (spec?.federation?.selectors ?? NONE).map(({ destinationSelectors = NONE }) => destinationSelectors);
}

/** A VirtualMesh, and of each selector of its federation the first Destination in one of its meshes that it selects. */
const firstFederated: Matching<VirtualMesh, Destination> = {
  find(virtualMesh, destinations) {
    const meshes = new Set((virtualMesh.spec?.meshes ?? NONE).map(meshKey));
    const found = new Set<Destination>();
    for (const selectors of selectorsOf(virtualMesh)) {
      const first = firstIn(meshes, selectedDestinations(selectors, destinations));
      if (first !== undefined) found.add(first);
    }
    return [...found];
  },
  findBack: (destination, virtualMeshes) => selectingCandidates({ where: (key) => virtualMeshes.where(bySelectors, key) }, destination),
  isSameAsking: (before, after) => equalJson(before.spec?.meshes, after.spec?.meshes) && equalJson(selectorsOf(before), selectorsOf(after)),
  isSameFound: (before, after) =>
    equalJson(before.spec?.kubeService?.ref, after.spec?.kubeService?.ref) &&
    equalJson(before.spec?.kubeService?.labels, after.spec?.kubeService?.labels) &&
    equalJson(before.spec?.mesh, after.spec?.mesh),
  indexes: [byLabel, byNamespace, byService, destinationsByCluster],
  backIndexes: [bySelectors],
};

function bySelectors(virtualMesh: VirtualMesh): readonly string[] {
  return [...new Set(selectorsOf(virtualMesh).flatMap(selectionKeys))];
}

function firstIn(meshes: ReadonlySet<string>, destinations: Iterable<Destination>): Destination | undefined {
  for (const destination of destinations) {
    const { kubeService, mesh } = destination.spec ?? {};
    if (kubeService?.ref !== undefined && mesh !== undefined && meshes.has(meshKey(mesh))) return destination;
  }
  return undefined;
}

const places = inputTable(
  ({ places: { names } }: FederationTables) => rowOfPlaces(names),
  ({ key }) => key,
);
const ONLY_ROW = [""];
const virtualMeshes = inputKind<FederationTables, VirtualMesh>(VirtualMesh);

/** Of each VirtualMesh, the selectors of its federation that match no Service. */
const federationDoubts: Derived<FederationTables, SelectionDoubt> = derived({
  from: virtualMeshes,
  context: () => undefined,
  joins: {
    // Of what is found nothing is read but what it is found by.
    destination: join({
      from: virtualMeshes,
      to: inputKind<FederationTables, Destination>(Destination),
      matching: firstFederated,
      isSame: firstFederated.isSameFound,
    }),
    places: join({ from: virtualMeshes, key: () => ONLY_ROW, to: places, select: ({ value }: MapEntry<PlaceNames>) => value }),
  },
  make: (virtualMesh, { lookup, before }): SelectionDoubt | undefined => {
    const { meshes = NONE, federation } = virtualMesh.spec ?? {};
    const [names] = lookup("places");
    // Alone in its VirtualMesh a mesh is federated to none; and nothing is reported before anything was discovered.
    if (meshes.length < 2 || names === undefined || names.clustersOfServices.length === 0) return undefined;
    if (virtualMeshDoubts(virtualMesh).federation.size > 0) return undefined;
    const found = new Set(lookup("destination"));
    const known = { namespaces: names.namespacesOfServices, clusters: names.clustersOfServices };
    const findings = selectorsOf(virtualMesh).flatMap((selectors, i): readonly Finding[] => {
      // Of one that is not understood it is said elsewhere.
      const selector = federation?.selectors?.[i];
      if (selector === undefined || isMisspeltSelector(selector) || isSelecting(selectors, found)) return NONE;
      const why = causeOfNothing(
        selectors.map(({ kubeServiceMatcher = {} }) => kubeServiceMatcher),
        known,
        "service",
      );
      const path = `spec.federation.selectors[${i}].destinationSelectors`;
      return [
        warningFinding("NothingFederated", `${path}: selects no Service in a mesh of this VirtualMesh, so it federates nothing: ${why}`),
      ];
    });
    if (findings.length === 0) return undefined;
    const key = keyOfResource(virtualMesh);
    const reports = findings.map((finding) => reportOf(refOf(virtualMesh), finding));
    return before !== undefined && equalJson(before.reports, reports) ? before : { key, reports };
  },
});

function isSelecting(selectors: readonly DestinationSelector[], found: ReadonlySet<Destination>): boolean {
  return [...found].some((destination) => selectsDestination(selectors, destination));
}

const NONE: readonly never[] = [];

/** Which VirtualMeshes have selectors that match no Service. */
export function* federationDoubtsAfter(
  { inputs, translationContext, since }: AttachmentStep,
  now: KnownPlaces,
  before: { readonly doubts: Table<SelectionDoubt>; readonly places: KnownPlaces },
): CooperativeTask<Table<SelectionDoubt>> {
  return yield* updated(
    before.doubts,
    federationDoubts,
    transition<FederationTables>(
      { inputs, translationContext, places: now },
      since && {
        before: { inputs: since.inputs, translationContext: since.translationContext, places: before.places },
        changes: since.changes,
      },
    ),
  );
}
