import { type AccessPolicy, Destination, type DestinationSelector, type TrafficPolicy, Workload } from "@isthmus/api";
import { type CooperativeTask, emptyTable, equalJson, type Report, refOf, type Table } from "@isthmus/core";
import { type Finding, reportOf, warningFinding } from "../../findings.ts";
import { type Derived, derived, updated } from "../../incremental/derived.ts";
import { inputKind, inputTable, join } from "../../incremental/join.ts";
import type { MapEntry } from "../../incremental/lookupTable.ts";
import type { Matching } from "../../incremental/matching.ts";
import { transition } from "../../incremental/transition.ts";
import { byLabel, byNamespace, byService, destinationsByCluster } from "../../policy/indexes.ts";
import { destinationLocation, isWithinLimit, type PolicyLimit, workloadLocation } from "../../policy/policyScope.ts";
import { selectedDestinations, selectingCandidates } from "../../policy/selection.ts";
import { entrySelects, isUnderstoodDestination, selectsIdentity, selectsWorkload } from "../../policy/selectors.ts";
import { isAccessPolicy, selectableTraitsOf, selectedTraitsOf, traitsOfLimit } from "../../policy/workloadTraits.ts";
import { bySelection, type CheckedAccess, type CheckedPolicy, type InputTables, ruleFindings } from "../policies.ts";
import type { AttachmentStep } from "../step.ts";
import {
  type ClusterPlaces,
  causeOfNothing,
  type KnownPlaces,
  noPlaces,
  type PlaceMatcher,
  type PlaceNames,
  placesAfter,
  rowOfPlaces,
  type SelectablePlaces,
} from "./knownPlaces.ts";

type Policy = TrafficPolicy | AccessPolicy;
type Checked = CheckedPolicy<Policy>;

/** That a policy or a VirtualMesh selects nothing; and of a policy that is in force nowhere, what is wrong with its rules. */
export interface SelectionDoubt {
  /** Of the object. */
  readonly key: string;
  readonly reports: readonly Report[];
}

/** The policies that select no Destination, or no source of requests. */
export interface SelectionDoubts {
  readonly traffic: Table<SelectionDoubt>;
  readonly access: Table<SelectionDoubt>;
  readonly places: KnownPlaces;
}

/** Nothing doubted. */
export function noSelectionDoubts(): SelectionDoubts {
  const noDoubts = () => emptyTable<SelectionDoubt>(({ key }) => key);
  return { traffic: noDoubts(), access: noDoubts(), places: noPlaces() };
}

interface DoubtTables extends InputTables {
  readonly checked: Table<Checked>;
  readonly places: KnownPlaces;
}

const policies = inputTable(
  ({ checked }: DoubtTables) => checked,
  ({ key }) => key,
);

/**
 * A policy, and the first Destination that it selects; of several entries, the first of each. Of a limited policy, among those that it
 * may target.
 */
const firstSelected: Matching<Checked, Destination> = {
  find(row, destinations) {
    if (!matchesServices(row.policy)) return NONE;
    const found = new Set<Destination>();
    for (const entry of entriesWithin(row)) {
      for (const one of selectedDestinations([entry], destinations)) {
        if (!isWithinLimit(row.limit, destinationLocation(one))) continue;
        found.add(one);
        break;
      }
    }
    return [...found];
  },
  findBack: (destination, checked) => selectingCandidates({ where: (key) => checked.where(byMatchers, key) }, destination),
  isSameAsking: (before, after) => before.policy === after.policy && equalJson(before.limit, after.limit),
  isSameFound: (before, after) =>
    equalJson(before.spec?.kubeService?.ref, after.spec?.kubeService?.ref) &&
    equalJson(before.spec?.kubeService?.labels, after.spec?.kubeService?.labels),
  indexes: [byLabel, byNamespace, byService, destinationsByCluster],
  backIndexes: [byMatchers],
};

/** The entries of a policy's destinationSelector; what they leave open is filled in by its limit, by which few Destinations are looked at. */
function entriesWithin({ policy, limit }: Checked): readonly DestinationSelector[] {
  const entries = policy.spec?.destinationSelector ?? NONE;
  const { clusterName, namespace } = limit;
  if (clusterName === undefined && namespace === undefined) return entries;
  return entries.map((entry) => {
    if (entry.kubeServiceMatcher === undefined) return entry;
    const { clusters = NONE, namespaces = NONE, ...others } = entry.kubeServiceMatcher;
    const filled = (list: readonly string[], own: string | undefined) => (list.length > 0 || own === undefined ? list : [own]);
    return {
      ...entry,
      kubeServiceMatcher: { ...others, clusters: filled(clusters, clusterName), namespaces: filled(namespaces, namespace) },
    };
  });
}

/** By selection, those of which a Destination is asked for at all. */
function byMatchers(checked: Checked): readonly string[] {
  return matchesServices(checked.policy) ? bySelection(checked) : NONE;
}

/** A policy, and the first Workload that it selects as a source. */
const firstSource: Matching<Checked, Workload> = {
  find(row, workloads) {
    if (!namesSources(row)) return NONE;
    const isSource = (workload: Workload) => isWithinLimit(row.limit, workloadLocation(workload)) && selectsSource(row.policy, workload);
    const selected = selectedTraitsOf(row.policy);
    const traits = selected === "any" ? traitsOfLimit(row.limit) : selected;
    if (traits === "any") {
      for (const [, workload] of workloads.entries()) if (isSource(workload)) return [workload];
      return NONE;
    }
    for (const trait of traits) {
      const found = workloads.where(selectableTraitsOf, trait).find(isSource);
      if (found !== undefined) return [found];
    }
    return NONE;
  },
  *findBack(workload, checked) {
    for (const trait of [ANY, ...selectableTraitsOf(workload)]) yield* checked.where(bySourceTrait, trait);
  },
  isSameAsking: (before, after) => before.policy === after.policy && equalJson(before.limit, after.limit),
  isSameFound: (before, after) =>
    before.spec?.kubernetes === after.spec?.kubernetes || equalJson(before.spec?.kubernetes, after.spec?.kubernetes),
  indexes: [selectableTraitsOf],
  backIndexes: [bySourceTrait],
};

// Traits begin with a word and a space.
const ANY = "any";

function bySourceTrait(row: Checked): readonly string[] {
  if (!namesSources(row)) return NONE;
  const selected = selectedTraitsOf(row.policy);
  const traits = selected === "any" ? traitsOfLimit(row.limit) : selected;
  return traits === "any" ? [ANY] : traits;
}

/**
 * Whether a policy names its sources by where they run alone. Who a service account stands for need not run yet; and a limited policy
 * learns nothing of sources that may be elsewhere.
 */
function namesSources(row: Checked): boolean {
  const entries: readonly object[] = row.policy.spec?.sourceSelector ?? NONE;
  if (entries.length === 0 || !entries.every((entry) => Object.keys(entry).every((member) => BY_PLACE.has(member)))) return false;
  const { clusterName, namespace } = row.limit;
  return sourceMatchers(row.policy).every(
    ({ clusters = NONE, namespaces = NONE }) =>
      (clusterName === undefined || clusters.every((name) => name === clusterName)) &&
      (namespace === undefined || (namespaces.length > 0 && namespaces.every((name) => name === namespace))),
  );
}

const BY_PLACE: ReadonlySet<string> = new Set(["kubeIdentityMatcher", "kubeWorkloadMatcher"]);

function sourceMatchers(policy: Policy): readonly PlaceMatcher[] {
  return isAccessPolicy(policy)
    ? (policy.spec?.sourceSelector ?? NONE).map(({ kubeIdentityMatcher = {} }) => kubeIdentityMatcher)
    : (policy.spec?.sourceSelector ?? NONE).map(({ kubeWorkloadMatcher = {} }) => kubeWorkloadMatcher);
}

function selectsSource(policy: Policy, workload: Workload): boolean {
  return isAccessPolicy(policy)
    ? selectsIdentity(policy.spec?.sourceSelector, workload)
    : selectsWorkload(policy.spec?.sourceSelector, workload);
}

const places = inputTable(
  ({ places: { names } }: DoubtTables) => rowOfPlaces(names),
  ({ key }) => key,
);
const ONLY_ROW = [""];

const clusters = inputTable(
  ({ places: known }: DoubtTables) => known.clusters,
  ({ key }) => key,
);

function byOwnCluster({ limit: { clusterName } }: Checked): readonly string[] {
  return clusterName === undefined ? NONE : [clusterName];
}

/** Of each policy that can be in force, whether it selects something. */
const selectionDoubts: Derived<DoubtTables, SelectionDoubt> = derived({
  from: policies,
  context: ({ translationContext }) => translationContext,
  joins: {
    // Of what is found nothing is read but what it is found by.
    destination: join({
      from: policies,
      to: inputKind<DoubtTables, Destination>(Destination),
      matching: firstSelected,
      isSame: firstSelected.isSameFound,
    }),
    source: join({
      from: policies,
      to: inputKind<DoubtTables, Workload>(Workload),
      matching: firstSource,
      isSame: firstSource.isSameFound,
    }),
    places: join({ from: policies, key: () => ONLY_ROW, to: places, select: ({ value }: MapEntry<PlaceNames>) => value }),
    own: join({ from: policies, key: byOwnCluster, to: clusters }),
  },
  make: (row, { lookup, context, before }): SelectionDoubt | undefined => {
    const { key, policy, written = policy, isSound } = row;
    const told = (findings: readonly Finding[]): SelectionDoubt | undefined => {
      if (findings.length === 0) return undefined;
      const reports = findings.map((finding) => reportOf(refOf(policy), finding));
      return before !== undefined && equalJson(before.reports, reports) ? before : { key, reports };
    };
    const rules = () => (isAccessPolicy(written) ? NONE : ruleFindings(written, context));
    // It is said already why it is in force nowhere: all other mistakes are reported at once.
    if (!isSound || written !== policy) return told(rules());
    const [names] = lookup("places");
    // Out of its reach, as is said already, may be more than what it selects within.
    if (names === undefined || row.reports.some(({ state }) => state === "INVALID")) return undefined;
    const [services, workloads] = [servicePlaces(row, names, lookup("own")[0]), workloadPlaces(row, names, lookup("own")[0])];
    const found = lookup("destination");
    const selectsNone = services !== undefined && matchesServices(policy) && found.length === 0;
    const doubts: string[] = selectsNone ? [noDestination(row, services)] : [];
    if (services !== undefined && found.length > 0) doubts.push(...idleEntries(row, found, services));
    if (workloads !== undefined && namesSources(row) && lookup("source").length === 0) doubts.push(noSource(row, workloads));
    return told([
      ...doubts.map((message) => warningFinding("NothingSelected", message)),
      ...(services !== undefined && !selectsNone ? NONE : rules()),
    ]);
  },
});

/** Where a policy may target Services; undefined where none is known, as before anything was discovered. A limited policy learns nothing of what lies beyond. */
function servicePlaces({ limit }: Checked, names: PlaceNames, own: ClusterPlaces | undefined): SelectablePlaces | undefined {
  return reachable(
    limit,
    { namespaces: names.namespacesOfServices, clusters: names.clustersOfServices },
    own?.namespacesOfServices ?? NONE,
  );
}

function workloadPlaces({ limit }: Checked, names: PlaceNames, own: ClusterPlaces | undefined): SelectablePlaces | undefined {
  return reachable(
    limit,
    { namespaces: names.namespacesOfWorkloads, clusters: names.clustersOfWorkloads },
    own?.namespacesOfWorkloads ?? NONE,
  );
}

function reachable(
  { clusterName, namespace }: PolicyLimit,
  all: SelectablePlaces & { readonly clusters: readonly string[] },
  own: readonly string[],
): SelectablePlaces | undefined {
  const namespaces = clusterName === undefined ? all.namespaces : own;
  if (namespaces.length === 0) return undefined;
  if (clusterName === undefined && namespace === undefined) return all;
  return { namespaces: namespace === undefined ? namespaces : namespaces.filter((name) => name === namespace), clusters: undefined };
}

/** Whether some entry says by what Services are matched. Of other entries it is said elsewhere what they name. */
function matchesServices({ spec }: Policy): boolean {
  return (spec?.destinationSelector ?? []).some(({ kubeServiceMatcher }) => kubeServiceMatcher !== undefined);
}

function noDestination({ policy, limit }: Checked, known: SelectablePlaces): string {
  const matchers = (policy.spec?.destinationSelector ?? NONE).map(({ kubeServiceMatcher = {} }) => kubeServiceMatcher);
  const why = causeOfNothing(matchers, known, "service");
  return `spec.destinationSelector: selects no Service in a mesh${within(limit)}, so this policy has no effect: ${why}`;
}

/** Entries that match nothing, beside one that selects something. */
function idleEntries(row: Checked, found: readonly Destination[], known: SelectablePlaces): readonly string[] {
  return entriesWithin(row).flatMap((entry, i): readonly string[] => {
    const { kubeServiceMatcher, kubeServiceRefs: { services = [] } = {} } = entry;
    // Of one that is not understood, and of services that it names, it is said elsewhere.
    if (kubeServiceMatcher === undefined || services.length > 0 || !isUnderstoodDestination(entry)) return NONE;
    if (found.some((destination) => entrySelects(entry, destination))) return NONE;
    const why = causeOfNothing([row.policy.spec?.destinationSelector?.[i]?.kubeServiceMatcher ?? {}], known, "service");
    return [`spec.destinationSelector[${i}]: selects no Service in a mesh${within(row.limit)}, so this entry has no effect: ${why}`];
  });
}

function noSource({ policy, limit }: Checked, known: SelectablePlaces): string {
  const why = causeOfNothing(sourceMatchers(policy), known, "workload");
  const effect = isAccessPolicy(policy) ? "allows no caller" : "applies to no request";
  const elsewhere = limit.clusterName === undefined ? "" : "; if another cluster is meant, name it in clusters";
  return `spec.sourceSelector: selects no workload in a mesh${within(limit)}, so this policy ${effect}: ${why}${elsewhere}`;
}

/** What a policy may target, as messages name it. */
function within({ clusterName, namespace }: PolicyLimit): string {
  return `${namespace === undefined ? "" : ` of namespace ${namespace}`}${clusterName === undefined ? "" : ` in ${clusterName}`}`;
}

const NONE: readonly never[] = [];

/** Which policies select nothing. */
export function* selectionDoubtsAfter(
  step: AttachmentStep,
  now: { readonly traffic: Table<CheckedPolicy<TrafficPolicy>>; readonly access: Table<CheckedAccess> },
  before: {
    readonly doubts: SelectionDoubts;
    readonly traffic: Table<CheckedPolicy<TrafficPolicy>>;
    readonly access: Table<CheckedAccess>;
  },
): CooperativeTask<SelectionDoubts> {
  const { inputs, translationContext, since } = step;
  const known = yield* placesAfter(step, before.doubts.places);
  const change = (checked: Table<Checked>, checkedBefore: Table<Checked>) =>
    transition<DoubtTables>(
      { inputs, translationContext, checked, places: known },
      since && {
        before: {
          inputs: since.inputs,
          translationContext: since.translationContext,
          checked: checkedBefore,
          places: before.doubts.places,
        },
        changes: since.changes,
      },
    );
  return {
    traffic: yield* updated(before.doubts.traffic, selectionDoubts, change(now.traffic, before.traffic)),
    access: yield* updated(before.doubts.access, selectionDoubts, change(now.access, before.access)),
    places: known,
  };
}
