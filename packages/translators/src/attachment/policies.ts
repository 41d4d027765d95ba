import { AccessPolicy, Destination, TrafficPolicy } from "@isthmus/api";
import {
  emptyTable,
  equalJson,
  exactly,
  type Kind,
  keyOf,
  keyOfResource,
  type Report,
  refOf,
  type Snapshot,
  type Table,
} from "@isthmus/core";
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
import { byService } from "../policy/indexes.ts";
import { accessFindings, ineffectiveFindings, isMisspeltWide } from "../policy/ineffective.ts";
import {
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
import { serviceOf } from "../policy/serviceRefs.ts";

/** A policy, and what can be said of it before any Destination is looked at. */
export interface CheckedPolicy<P extends TrafficPolicy | AccessPolicy> {
  readonly key: string;
  readonly policy: P;
  /** Whether its references hold, and enough of it is understood: else it is in force nowhere. */
  readonly isSound: boolean;
  /** Lists of selectors, each of which selects Destinations on which the policy bears. */
  readonly selectors: readonly SelectorList[];
  readonly reports: readonly Report[];
}

/** An AccessPolicy that is checked. Where it is not sound it is in force as it last was, and lets nobody in where it never was. */
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
  readonly surroundings: TranslationContext;
}

const destinations = inputKind<InputTables, Destination>(Destination);

/** TrafficPolicies: those whose references hold are sound. */
export const checkedTraffic = checkedPolicies<TrafficPolicy, CheckedPolicy<TrafficPolicy>>({
  kind: TrafficPolicy,
  findingsOf: (policy, limit) => [...trafficFindings(policy), ...subsetFindings(policy, limit)],
  findingsIfUnsound: ruleFindings,
  isMistaken: () => false,
  madeOf: (row, policy) => {
    const isSound = row.isSound && !isMisspeltWide(policy);
    return { ...row, policy, isSound, selectors: isSound ? [policy.spec?.destinationSelector] : NONE };
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
  madeOf: (row, policy) => {
    const bearing = accessPolicyEffect(policy, row.isSound);
    return { ...row, policy, selectors: selectorsOf(bearing), bearing };
  },
});

interface Checks<P extends TrafficPolicy | AccessPolicy, C extends CheckedPolicy<P>> {
  readonly kind: Kind<P>;
  findingsOf(policy: P, limit: PolicyLimit): readonly Finding[];
  /** What else is wrong with a policy that is in force nowhere: all mistakes are reported at once. */
  findingsIfUnsound?(policy: P, context: TranslationContext): readonly Finding[];
  /** Whether it is not sound for another reason, which the findings about its reach tell. */
  isMistaken(policy: P, limit: PolicyLimit): boolean;
  madeOf(row: Pick<C, "key" | "isSound" | "reports">, policy: P): C;
}

/** Each policy with what can be said of it, and whether it is sound. */
function checkedPolicies<P extends TrafficPolicy | AccessPolicy, C extends CheckedPolicy<P>>({
  kind,
  findingsOf,
  findingsIfUnsound,
  isMistaken,
  madeOf,
}: Checks<P, C>): Derived<InputTables, C> {
  const policies = inputKind<InputTables, P>(kind);
  return derived({
    from: policies,
    // The Settings say how far they reach.
    context: ({ surroundings }) => surroundings,
    joins: {
      // Whether there are any is all that is asked.
      named: join({ from: policies, key: byNamedService, to: destinations, index: byService, isSame: () => true }),
    },
    make: (policy, { lookup, context, before: row }): C => {
      const limit = policyScopeFrom(context).limitOf(policy);
      const services = new Set(lookup("named").flatMap(byService));
      const grounds = [
        ...selectorFindings("spec.destinationSelector", policy.spec?.destinationSelector, {
          hasService: (key) => services.has(key),
          limit,
        }),
        ...findingsOf(policy, limit),
      ];
      const isSound = grounds.every(({ state }) => state !== "INVALID") && !isMistaken(policy, limit);
      // To ask for too much takes nothing away of what is in reach.
      const findings = [
        ...policyScopeFindings(policy, limit),
        ...grounds,
        ...(isSound ? NONE : (findingsIfUnsound?.(policy, context) ?? NONE)),
      ];
      const reports = findings.length === 0 ? NONE : findings.map((finding) => reportOf(refOf(policy), finding));
      const made = madeOf({ key: keyOfResource(policy), isSound, reports }, policy);
      return row?.policy === policy && row.isSound === made.isSound && equalJson(row.reports, reports) ? row : made;
    },
  });
}

const NONE: readonly never[] = [];

/** Policies by each service that their destination selector names. */
function byNamedService({ spec }: TrafficPolicy | AccessPolicy): readonly string[] {
  return (spec?.destinationSelector ?? []).flatMap(({ kubeServiceRefs }) =>
    (kubeServiceRefs?.services ?? []).map((ref) => keyOf(serviceOf(ref))),
  );
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
