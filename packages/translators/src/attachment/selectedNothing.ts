import { type AccessPolicy, Destination, type TrafficPolicy, Workload } from "@isthmus/api";
import {
  type CooperativeTask,
  emptyTable,
  equalJson,
  type Index,
  nearestName,
  type Report,
  refOf,
  SortedMap,
  type Table,
} from "@isthmus/core";
import { reportOf, warningFinding } from "../findings.ts";
import { changesOf } from "../incremental/changes.ts";
import { type Derived, derived, updated } from "../incremental/derived.ts";
import { inputKind, inputTable, join } from "../incremental/join.ts";
import { entriesOf, type MapEntry } from "../incremental/lookupTable.ts";
import type { Matching } from "../incremental/matching.ts";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import { transition } from "../incremental/transition.ts";
import { byLabel, byNamespace, byService, destinationsByCluster } from "../policy/indexes.ts";
import { policyScopeFrom } from "../policy/policyScope.ts";
import { selectedDestinations, selectingCandidates } from "../policy/selection.ts";
import { selectsIdentity, selectsWorkload } from "../policy/selectors.ts";
import { isAccessPolicy, selectableTraitsOf, selectedTraitsOf } from "../policy/workloadTraits.ts";
import type { AttachmentStep } from "./attachment.ts";
import { bySelection, type CheckedAccess, type CheckedPolicy, type InputTables, ruleFindings } from "./policies.ts";

type Policy = TrafficPolicy | AccessPolicy;
type Checked = CheckedPolicy<Policy>;

/** That a policy selects nothing, and what would be wrong with it if it did. */
export interface SelectionDoubt {
  /** Of the policy. */
  readonly key: string;
  readonly reports: readonly Report[];
}

/** The policies that select no Destination, or no source of requests. */
export interface SelectionDoubts {
  readonly traffic: Table<SelectionDoubt>;
  readonly access: Table<SelectionDoubt>;
  readonly places: KnownPlaces;
}

/** The namespaces and clusters in which something can be selected. */
interface KnownPlaces {
  /** How many, by sort and name. */
  readonly counts: SortedMap<number>;
  readonly names: PlaceNames;
}

/** The very same while no place comes or goes. */
type PlaceNames = Readonly<Record<Place, readonly string[]>>;
type Place = keyof typeof PLACES;

const ofController =
  (read: (place: { readonly namespace?: string; readonly clusterName?: string }) => string | undefined) => (workload: Workload) => {
    const name = read(workload.spec?.kubernetes?.controller ?? {});
    return name === undefined || name === "" ? [] : [name];
  };

const PLACES = {
  namespacesOfServices: byNamespace,
  clustersOfServices: destinationsByCluster,
  namespacesOfWorkloads: ofController(({ namespace }) => namespace),
  clustersOfWorkloads: ofController(({ clusterName }) => clusterName),
} as const;

const OF_SERVICES = ["namespacesOfServices", "clustersOfServices"] as const;
const OF_WORKLOADS = ["namespacesOfWorkloads", "clustersOfWorkloads"] as const;

/** Nothing doubted. */
export function noSelectionDoubts(): SelectionDoubts {
  const noDoubts = () => emptyTable<SelectionDoubt>(({ key }) => key);
  return { traffic: noDoubts(), access: noDoubts(), places: { counts: SortedMap.empty(), names: namesIn(SortedMap.empty()) } };
}

function namesIn(counts: SortedMap<number>): PlaceNames {
  const namesOf = (place: Place) => {
    const names: string[] = [];
    for (const [key] of counts) if (key.startsWith(`${place} `)) names.push(key.slice(place.length + 1));
    return names;
  };
  return {
    namespacesOfServices: namesOf("namespacesOfServices"),
    clustersOfServices: namesOf("clustersOfServices"),
    namespacesOfWorkloads: namesOf("namespacesOfWorkloads"),
    clustersOfWorkloads: namesOf("clustersOfWorkloads"),
  };
}

/** Counts that follow what comes and goes. */
function* placesAfter({ inputs, since }: AttachmentStep, before: KnownPlaces): CooperativeTask<KnownPlaces> {
  const counts = new Map<string, number>();
  const add = (key: string, by: number) => counts.set(key, (counts.get(key) ?? before.counts.get(key) ?? 0) + by);
  function* count<R extends object>(
    changes: readonly { readonly before: R | undefined; readonly after: R | undefined }[],
    sorts: readonly (readonly [Place, Index<R>])[],
  ) {
    for (const [at, { before: was, after }] of changes.entries()) {
      for (const [place, index] of sorts) {
        const [left, right] = [was === undefined ? NONE : index(was), after === undefined ? NONE : index(after)];
        if (left[0] === right[0]) continue;
        for (const name of left) add(`${place} ${name}`, -1);
        for (const name of right) add(`${place} ${name}`, 1);
      }
      if (at % CHANGES_PER_STEP === 0) yield;
    }
  }
  yield* count(
    since?.changes.of(Destination) ?? changesOf(Destination, inputs, undefined),
    OF_SERVICES.map((place) => [place, PLACES[place]] as const),
  );
  yield* count(
    since?.changes.of(Workload) ?? changesOf(Workload, inputs, undefined),
    OF_WORKLOADS.map((place) => [place, PLACES[place]] as const),
  );
  if (counts.size === 0) return before;
  const isOther = [...counts].some(([key, number]) => number > 0 !== before.counts.has(key));
  const after = before.counts.update([...counts].map(([key, number]) => [key, number > 0 ? number : undefined] as const));
  return { counts: after, names: isOther ? namesIn(after) : before.names };
}

// Each takes a microsecond.
const CHANGES_PER_STEP = 64;

interface DoubtTables extends InputTables {
  readonly checked: Table<Checked>;
  readonly places: KnownPlaces;
}

const policies = inputTable(
  ({ checked }: DoubtTables) => checked,
  ({ key }) => key,
);

/** A policy, and the first Destination that it selects. */
const firstSelected: Matching<Checked, Destination> = {
  find({ policy }, destinations) {
    if (!matchesServices(policy)) return NONE;
    for (const one of selectedDestinations(policy.spec?.destinationSelector, destinations)) return [one];
    return NONE;
  },
  findBack: (destination, checked) => selectingCandidates({ where: (key) => checked.where(byMatchers, key) }, destination),
  isSameAsking: (before, after) => before.policy === after.policy,
  isSameFound: (before, after) =>
    equalJson(before.spec?.kubeService?.ref, after.spec?.kubeService?.ref) &&
    equalJson(before.spec?.kubeService?.labels, after.spec?.kubeService?.labels),
  indexes: [byLabel, byNamespace, byService, destinationsByCluster],
  backIndexes: [byMatchers],
};

/** By selection, those of which a Destination is asked for at all. */
function byMatchers(checked: Checked): readonly string[] {
  return matchesServices(checked.policy) ? bySelection(checked) : NONE;
}

/** A policy, and the first Workload that it selects as a source. */
const firstSource: Matching<Checked, Workload> = {
  find({ policy }, workloads) {
    if (!namesSources(policy)) return NONE;
    const traits = selectedTraitsOf(policy);
    if (traits === "any") {
      for (const [, workload] of workloads.entries()) if (selectsSource(policy, workload)) return [workload];
      return NONE;
    }
    for (const trait of traits) {
      const found = workloads.where(selectableTraitsOf, trait).find((workload) => selectsSource(policy, workload));
      if (found !== undefined) return [found];
    }
    return NONE;
  },
  *findBack(workload, checked) {
    for (const trait of [ANY, ...selectableTraitsOf(workload)]) yield* checked.where(bySourceTrait, trait);
  },
  isSameAsking: (before, after) => before.policy === after.policy,
  isSameFound: (before, after) =>
    before.spec?.kubernetes === after.spec?.kubernetes || equalJson(before.spec?.kubernetes, after.spec?.kubernetes),
  indexes: [selectableTraitsOf],
  backIndexes: [bySourceTrait],
};

// Traits begin with a word and a space.
const ANY = "any";

function bySourceTrait({ policy }: Checked): readonly string[] {
  if (!namesSources(policy)) return NONE;
  const traits = selectedTraitsOf(policy);
  return traits === "any" ? [ANY] : traits;
}

/** Whether a policy names its sources by where they run alone. Who a service account stands for need not run yet. */
function namesSources({ spec }: Policy): boolean {
  const entries: readonly object[] = spec?.sourceSelector ?? NONE;
  return entries.length > 0 && entries.every((entry) => Object.keys(entry).every((member) => BY_PLACE.has(member)));
}

const BY_PLACE: ReadonlySet<string> = new Set(["kubeIdentityMatcher", "kubeWorkloadMatcher"]);

function selectsSource(policy: Policy, workload: Workload): boolean {
  return isAccessPolicy(policy)
    ? selectsIdentity(policy.spec?.sourceSelector, workload)
    : selectsWorkload(policy.spec?.sourceSelector, workload);
}

const onlyRowOf = memoizeRow((names: PlaceNames) => entriesOf(new Map([["", names]])));
const places = inputTable(
  ({ places: { names } }: DoubtTables) => onlyRowOf(names),
  ({ key }) => key,
);
const ONLY_ROW = [""];

/** Of each policy of the management cluster that can be in force, whether it selects something. */
const selectionDoubts: Derived<DoubtTables, SelectionDoubt> = derived({
  from: policies,
  context: ({ surroundings }) => surroundings,
  joins: {
    destination: join({ from: policies, to: inputKind<DoubtTables, Destination>(Destination), matching: firstSelected }),
    source: join({ from: policies, to: inputKind<DoubtTables, Workload>(Workload), matching: firstSource }),
    places: join({ from: policies, key: () => ONLY_ROW, to: places, select: ({ value }: MapEntry<PlaceNames>) => value }),
  },
  make: ({ key, policy, reports: known }, { lookup, context, before }): SelectionDoubt | undefined => {
    const { clusterName, namespace } = policyScopeFrom(context).limitOf(policy);
    const [names] = lookup("places");
    // A limited policy is told nothing of what lies beyond.
    if (names === undefined || clusterName !== undefined || namespace !== undefined) return undefined;
    // Else it is said already why.
    if (known.some(({ state }) => state === "INVALID")) return undefined;
    const hasServices = names.clustersOfServices.length > 0;
    const selectsNone = hasServices && matchesServices(policy) && lookup("destination").length === 0;
    const doubts: string[] = selectsNone ? [noDestination(policy, names)] : [];
    if (names.clustersOfWorkloads.length > 0 && namesSources(policy) && lookup("source").length === 0) doubts.push(noSource(policy, names));
    const findings = [
      ...doubts.map((message) => warningFinding("NothingSelected", message)),
      ...(isAccessPolicy(policy) || (hasServices && !selectsNone) ? NONE : ruleFindings(policy, context)),
    ];
    if (findings.length === 0) return undefined;
    const reports = findings.map((finding) => reportOf(refOf(policy), finding));
    return before !== undefined && equalJson(before.reports, reports) ? before : { key, reports };
  },
});

/** Whether some entry says by what Services are matched. Of other entries it is said elsewhere what they name. */
function matchesServices({ spec }: Policy): boolean {
  return (spec?.destinationSelector ?? []).some(({ kubeServiceMatcher }) => kubeServiceMatcher !== undefined);
}

interface Matcher {
  readonly namespaces?: readonly string[];
  readonly clusters?: readonly string[];
}

function noDestination({ spec }: Policy, names: PlaceNames): string {
  const matchers = (spec?.destinationSelector ?? []).map(({ kubeServiceMatcher = {} }) => kubeServiceMatcher);
  const why = unknownPlaces(matchers, { namespaces: names.namespacesOfServices, clusters: names.clustersOfServices }, SERVICE);
  return `spec.destinationSelector: selects no Service in a mesh, so this policy has no effect: ${why}`;
}

function noSource(policy: Policy, names: PlaceNames): string {
  const matchers: readonly Matcher[] = isAccessPolicy(policy)
    ? (policy.spec?.sourceSelector ?? []).map(({ kubeIdentityMatcher = {} }) => kubeIdentityMatcher)
    : (policy.spec?.sourceSelector ?? []).map(({ kubeWorkloadMatcher = {} }) => kubeWorkloadMatcher);
  const why = unknownPlaces(matchers, { namespaces: names.namespacesOfWorkloads, clusters: names.clustersOfWorkloads }, WORKLOAD);
  const effect = isAccessPolicy(policy) ? "allows no caller" : "applies to no request";
  return `spec.sourceSelector: selects no workload in a mesh, so this policy ${effect}: ${why}`;
}

interface Selected {
  readonly what: string;
  /** Where nothing is wrong with the places. */
  readonly remedy: string;
}

const SERVICE: Selected = { what: "Service", remedy: "check its labels, which are those of the Service and not of its pods" };
const WORKLOAD: Selected = { what: "workload", remedy: "check its labels, which are those of the pods" };

interface KnownNames {
  readonly namespaces: readonly string[];
  readonly clusters: readonly string[];
}

/** The first place that nothing is in, with the one that was perhaps meant. */
function unknownPlaces(matchers: readonly Matcher[], known: KnownNames, { what, remedy }: Selected): string {
  for (const [member, place] of [
    ["namespaces", "namespace"],
    ["clusters", "cluster"],
  ] as const) {
    for (const name of matchers.flatMap((matcher) => matcher[member] ?? [])) {
      if (known[member].includes(name)) continue;
      const near = nearestName(name, known[member]);
      return `no ${what} is in ${place} ${name}${near === undefined ? ": check the name" : ` (did you mean ${near}?)`}`;
    }
  }
  return `no ${what} has all that an entry asks for: ${remedy}`;
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
  const { inputs, surroundings, since } = step;
  const known = yield* placesAfter(step, before.doubts.places);
  const change = (checked: Table<Checked>, checkedBefore: Table<Checked>) =>
    transition<DoubtTables>(
      { inputs, surroundings, checked, places: known },
      since && {
        before: { inputs: since.inputs, surroundings: since.surroundings, checked: checkedBefore, places: before.doubts.places },
        changes: since.changes,
      },
    );
  return {
    traffic: yield* updated(before.doubts.traffic, selectionDoubts, change(now.traffic, before.traffic)),
    access: yield* updated(before.doubts.access, selectionDoubts, change(now.access, before.access)),
    places: known,
  };
}
