import { AccessPolicy, Destination, type DestinationSelector, TrafficPolicy, VirtualDestination } from "@isthmus/api";
import { emptyTable, equalJson, exactly, type Kind, keyOf, type Report, refOf, type Snapshot, type Table } from "@isthmus/core";
import { type Finding, reportOf } from "../findings.ts";
import { type Derived, derived } from "../incremental/derived.ts";
import { inputKind, join } from "../incremental/join.ts";
import type { Matching } from "../incremental/matching.ts";
import { memoizeRow } from "../incremental/memoizeRow.ts";
import type { TranslationContext } from "../meshes/inputs.ts";
import { meshTranslators } from "../meshes/meshTranslators.ts";
import {
  type AccessPolicyEffect,
  type AccessPolicyFallback,
  accessPolicyEffect,
  effectOn,
  type SelectorList,
  selectorsOf,
} from "../policy/accessPolicyEffect.ts";
import { doubtfulAccess, doubtfulTraffic } from "../policy/doubtfulValues.ts";
import { trafficFormsOf, trafficPolicyForms } from "../policy/forms/trafficPolicyForms.ts";
import { serviceOf } from "../policy/hosts/serviceRefs.ts";
import { byService } from "../policy/indexes.ts";
import { accessFindings, ineffectiveFindings } from "../policy/ineffective.ts";
import {
  isWithinLimit,
  namesDestinationOutOfScope,
  type PolicyLimit,
  policyScopeFindings,
  policyScopeFrom,
  subsetFindings,
} from "../policy/policyScope.ts";
import { type AgeSource, precedence } from "../policy/precedence.ts";
import { selectorFindings } from "../policy/references.ts";
import { selectingDestinations, selectionKeys } from "../policy/selection.ts";
import { selectsDestination } from "../policy/selectors.ts";
import { selectedUnder, virtualSelectionFindings, virtualSelectionKeys } from "../policy/virtualSelection.ts";
import { backingSelectors } from "./backingSelectors.ts";

/** A policy, and what can be said of it before any Destination is looked at. */
export interface CheckedPolicy<P extends TrafficPolicy | AccessPolicy> {
  readonly key: string;
  /** As it is in force, where it is; else as it is written. */
  readonly policy: P;
  /** As it is written, where another form is in force. */
  readonly written?: P;
  /** Of a TrafficPolicy, what stands for it on Destinations where it can't be in force. */
  readonly last?: P;
  /** What it may target. */
  readonly limit: PolicyLimit;
  /** Whether its references hold, and enough of it is understood: else it is in force nowhere. */
  readonly isSound: boolean;
  /** Lists of selectors, each of which selects Destinations on which the policy bears. */
  readonly selectors: readonly SelectorList[];
  readonly reports: readonly Report[];
}

/** An AccessPolicy that is checked. Where it is not sound it is in force as it last was, and denies all callers where it never was. */
export interface CheckedAccess extends CheckedPolicy<AccessPolicy> {
  readonly bearing: AccessPolicyEffect;
}

/** No policy. */
export function noPolicies<C extends CheckedPolicy<TrafficPolicy | AccessPolicy>>(): Table<C> {
  return emptyTable(({ key }) => key);
}

/** The tables in which policies are looked up. */
export interface InputTables {
  readonly inputs: Snapshot;
  readonly translationContext: TranslationContext;
}

const destinations = inputKind<InputTables, Destination>(Destination);

/** TrafficPolicies: those whose references hold are sound. */
export const checkedTraffic = checkedPolicies<TrafficPolicy, CheckedPolicy<TrafficPolicy>>({
  kind: TrafficPolicy,
  formsOf: trafficFormsOf,
  findingsOf: (policy, limit) => [...trafficFindings(policy), ...subsetFindings(policy, limit)],
  isMistaken: () => false,
  madeOf: (row, policy, { groundsOf, before }) => {
    const [written] = trafficFormsOf(policy);
    const { inForce, last, consequence } = trafficPolicyForms(policy, row.isSound, groundsOf);
    const form = inForce ?? written;
    const asBefore = (one: TrafficPolicy, known: TrafficPolicy | undefined) => (known !== undefined && equalJson(known, one) ? known : one);
    return {
      ...row,
      // That the status says what is in force is no news for the Destinations.
      policy: asBefore(form, before?.policy),
      ...(form === written ? {} : { written: asBefore(written, before?.written) }),
      ...(last === undefined ? {} : { last: asBefore(last, before?.last) }),
      isSound: inForce !== undefined,
      selectors: inForce === undefined ? NONE : [inForce.spec?.destinationSelector],
      reports: [...row.reports, ...consequence.map((finding) => reportOf(refOf(policy), finding))],
    };
  },
});

/** What is wrong with the rules of a policy that is in force nowhere. Of others it is said on each Destination. */
export function ruleFindings({ spec }: TrafficPolicy, context: TranslationContext): readonly Finding[] {
  return meshTranslators.flatMap((translator) => translator.ruleFindings?.(spec?.policy ?? {}, context) ?? NONE);
}

const trafficFindings = memoizeRow((policy: TrafficPolicy) => [
  ...andDoubts(policy, ineffectiveFindings(policy), doubtfulTraffic),
  ...meshTranslators.flatMap((translator) => translator.requestFindings?.(policy.spec ?? {}) ?? []),
]);

const accessPolicyFindings = memoizeRow((policy: AccessPolicy) => andDoubts(policy, accessFindings(policy), doubtfulAccess));

/** What is missing may be in a field that is misspelt. */
function andDoubts<P>(policy: P, findings: readonly Finding[], doubtsOf: (policy: P) => readonly Finding[]): readonly Finding[] {
  return findings.some(({ code }) => code !== "FieldUnsupported") ? findings : [...findings, ...doubtsOf(policy)];
}

/** AccessPolicies: those whose references hold, and of which everything is understood, are sound. */
export const checkedAccess = checkedPolicies<AccessPolicy, CheckedAccess>({
  kind: AccessPolicy,
  findingsOf: (policy) => accessPolicyFindings(policy),
  isMistaken: (policy, limit) => namesDestinationOutOfScope(policy, limit),
  isClosing: true,
  madeOf: (row, policy, { backing }) => {
    const bearing = accessPolicyEffect(policy, { isSound: row.isSound, backing });
    return { ...row, policy, selectors: selectorsOf(bearing), bearing };
  },
});

interface Checks<P extends TrafficPolicy | AccessPolicy, C extends CheckedPolicy<P>> {
  readonly kind: Kind<P>;
  /** The forms that may be in force of which the references are looked up; absent: it alone as it is written. */
  readonly formsOf?: (policy: P) => readonly (P | undefined)[];
  findingsOf(policy: P, limit: PolicyLimit): readonly Finding[];
  /** Whether it is not sound for another reason, which the findings about its reach tell. */
  isMistaken(policy: P, limit: PolicyLimit): boolean;
  /** Whether nothing to select is a mistake, as what it closed before would be open. */
  readonly isClosing?: boolean;
  madeOf(row: Pick<C, "key" | "isSound" | "reports" | "limit">, policy: P, circumstances: Circumstances<P, C>): C;
}

interface Circumstances<P, C> {
  /** Puts the Services behind them in the place of VirtualDestinations. */
  backing(selectors: SelectorList): SelectorList;
  /** What is found of a form. */
  groundsOf(form: P): readonly Finding[];
  readonly before: C | undefined;
}

/** Each policy with what can be said of it, and whether it is sound. */
function checkedPolicies<P extends TrafficPolicy | AccessPolicy, C extends CheckedPolicy<P>>({
  kind,
  formsOf: forms = (policy) => [policy],
  findingsOf,
  isMistaken,
  isClosing = false,
  madeOf,
}: Checks<P, C>): Derived<InputTables, C> {
  const policies = inputKind<InputTables, P>(kind);
  const selectorsOfForms = memoizeRow((policy: P) => forms(policy).flatMap((form) => form?.spec?.destinationSelector ?? NONE));
  const byVirtualSelection = (policy: P) => virtualSelectionKeys(selectorsOfForms(policy));
  const byNamedService = (policy: P) => namedServices(selectorsOfForms(policy));
  return derived({
    from: policies,
    // The Settings say how far they reach.
    context: ({ translationContext }) => translationContext,
    joins: {
      // Whether there are any is all that is asked.
      named: join({ from: policies, key: byNamedService, to: destinations, index: byService, isSame: () => true }),
      virtual: join({
        from: policies,
        key: byVirtualSelection,
        to: inputKind<InputTables, VirtualDestination>(VirtualDestination),
        index: selectedUnder,
      }),
    },
    make: (policy, { key, lookup, context, before: row }): C => {
      const scope = policyScopeFrom(context);
      const limit = scope.limitOf(policy);
      // A limited policy is for the Destinations in its reach, not for hosts of the management cluster.
      const candidates = lookup("virtual").filter(({ metadata: { namespace = "" } }) =>
        isWithinLimit(limit, { clusterName: "", namespace }),
      );
      const services = new Set(lookup("named").flatMap(byService));
      const groundsOf = (form: P) => [
        ...selectorFindings("spec.destinationSelector", form.spec?.destinationSelector, {
          hasService: (key) => services.has(key),
          limit,
        }),
        ...virtualSelectionFindings("spec.destinationSelector", form.spec?.destinationSelector, { candidates, limit, isClosing }),
        ...findingsOf(form, limit),
      ];
      const grounds = groundsOf(policy);
      const isSound = grounds.every(({ state }) => state !== "INVALID") && !isMistaken(policy, limit);
      // To ask for too much takes nothing away of what is in reach.
      const findings = [...policyScopeFindings(policy, limit), ...grounds];
      const reports = findings.length === 0 ? NONE : findings.map((finding) => reportOf(refOf(policy), finding));
      const backing = (selectors: SelectorList) => backingSelectors(selectors, { candidates, limitOf: (one) => scope.limitOf(one) });
      const made = madeOf({ key, limit, isSound, reports }, policy, { backing, groundsOf, before: row });
      const isSame =
        row?.policy === made.policy &&
        row.written === made.written &&
        row.last === made.last &&
        row.isSound === made.isSound &&
        equalJson(row.limit, limit) &&
        equalJson(row.reports, made.reports) &&
        equalJson(row.selectors, made.selectors);
      return isSame ? row : made;
    },
  });
}

const NONE: readonly never[] = [];

/** The keys of the services that selectors name. */
function namedServices(selectors: readonly DestinationSelector[]): readonly string[] {
  return selectors.flatMap(({ kubeServiceRefs }) => (kubeServiceRefs?.services ?? []).map((ref) => keyOf(serviceOf(ref))));
}

/** Sound TrafficPolicies by the VirtualDestinations that their destination selector may select. */
export function byVirtualTarget({ policy, isSound }: CheckedPolicy<TrafficPolicy>): readonly string[] {
  return isSound ? virtualSelectionKeys(policy.spec?.destinationSelector) : NONE;
}

/** Those of the candidates that select a Destination, in order of precedence. */
export function policiesSelecting<P extends TrafficPolicy | AccessPolicy>(
  destination: Destination,
  candidates: Iterable<CheckedPolicy<P>>,
  ages: AgeSource,
): readonly P[] {
  const selecting: P[] = [];
  for (const { policy } of candidates) {
    if (selectsDestination(policy.spec?.destinationSelector, destination)) selecting.push(policy);
  }
  return exactly(selecting.length < 2 ? selecting : selecting.sort(precedence(ages)));
}

/** By policy, what stands for it on a target where it can't be in force, of those that select it as they were last accepted. */
export function lastAcceptedOn(
  candidates: readonly CheckedPolicy<TrafficPolicy>[],
  isSelecting: (form: TrafficPolicy) => boolean,
): ReadonlyMap<TrafficPolicy, TrafficPolicy> {
  const known = candidates.filter(({ last }) => last !== undefined);
  if (known.length === 0) return NO_FORMS;
  return new Map(known.flatMap(({ policy, last }) => (last !== undefined && isSelecting(last) ? [[policy, last] as const] : [])));
}

const NO_FORMS: ReadonlyMap<TrafficPolicy, TrafficPolicy> = new Map<TrafficPolicy, TrafficPolicy>();

/** Destination → the policies that may select it. */
export function selectingPolicies<C extends CheckedPolicy<TrafficPolicy | AccessPolicy>>(): Matching<Destination, C> {
  return selectingDestinations<C>(bySelection);
}

/** Policies by where the Destinations that they select are looked up. */
export function bySelection({ selectors }: CheckedPolicy<TrafficPolicy | AccessPolicy>): readonly string[] {
  if (selectors.length < 2) return selectors.flatMap(selectionKeys);
  return [...new Set(selectors.flatMap(selectionKeys))];
}

/** The AccessPolicies that bear on a Destination. */
export interface AccessPolicyMatches {
  /** As they are written, in order of precedence. */
  readonly policies: readonly AccessPolicy[];
  /** What stands for those that can't be in force as they are written, or perhaps can't once they are translated, in order of precedence. */
  readonly held: readonly AccessPolicyFallback[];
}

/** What of AccessPolicies bears on a Destination. */
export function accessPoliciesFor(destination: Destination, candidates: Iterable<CheckedAccess>, ages: AgeSource): AccessPolicyMatches {
  const byPrecedence = precedence(ages);
  const written: AccessPolicy[] = [];
  const held: AccessPolicyFallback[] = [];
  for (const { policy, bearing } of candidates) {
    const on = effectOn(destination, bearing);
    if (on.isWritten) written.push(policy);
    if (on.held !== undefined) held.push(on.held);
  }
  return {
    policies: exactly(written.length < 2 ? written : written.sort(byPrecedence)),
    held: held.length === 0 ? NONE : exactly(held.sort((a, b) => byPrecedence(a.policy, b.policy))),
  };
}
