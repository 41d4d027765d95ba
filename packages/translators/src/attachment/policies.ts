import { AccessPolicy, Destination, TrafficPolicy } from "@isthmus/api";
import {
  type Collection,
  emptyTable,
  equalJson,
  exactly,
  type Kind,
  keyOf,
  keyOfResource,
  type Report,
  refOf,
  type Steps,
  type Table,
} from "@isthmus/core";
import { type Finding, reported } from "../findings.ts";
import { versionsOf } from "../incremental/changes.ts";
import { keysOf, remade } from "../incremental/rows.ts";
import { requestFindings } from "../networking/istio/requestFindings.ts";
import { serviceOf } from "../networking/istio/serviceRefs.ts";
import { type Ages, precedence } from "../precedence.ts";
import { remembered } from "../remembered.ts";
import { type AccessBearing, accessBearing, bearingOn, type HeldAccess, type Selectors, selectorsOf } from "./accessBearing.ts";
import type { AttachmentStep } from "./attachment.ts";
import { byService } from "./indexes.ts";
import { accessFindings, ineffectiveFindings, isMisspeltWide } from "./ineffective.ts";
import { type Limit, namesBeyond, reachFindings, reachIn, subsetFindings } from "./reach.ts";
import { selectorFindings } from "./references.ts";
import { selectingCandidates, selectionKeys } from "./selection.ts";
import { selectsDestination } from "./selectors.ts";

/** A policy, and what can be said of it before any Destination is looked at. */
export interface CheckedPolicy<P extends TrafficPolicy | AccessPolicy> {
  readonly key: string;
  readonly policy: P;
  /** Whether its references hold, and enough of it is understood: else it is in force nowhere. */
  readonly isSound: boolean;
  /** Lists of selectors, each of which selects Destinations on which the policy bears. */
  readonly selectors: readonly Selectors[];
  readonly reports: readonly Report[];
}

/** An AccessPolicy that is checked. Where it is not sound it is in force as it last was, and lets nobody in where it never was. */
export interface CheckedAccess extends CheckedPolicy<AccessPolicy> {
  readonly bearing: AccessBearing;
}

/** No policy. */
export function noPolicies<C extends CheckedPolicy<TrafficPolicy | AccessPolicy>>(): Table<C> {
  return emptyTable(({ key }) => key);
}

/** TrafficPolicies: those whose references hold are sound. */
export function checkTrafficPolicies(
  step: AttachmentStep,
  before: Table<CheckedPolicy<TrafficPolicy>>,
): Steps<Table<CheckedPolicy<TrafficPolicy>>> {
  return checked(step, before, {
    kind: TrafficPolicy,
    findingsOf: (policy, limit) => [...trafficFindings(policy), ...subsetFindings(policy, limit)],
    isMistaken: () => false,
    madeOf: (row, policy) => {
      const isSound = row.isSound && !isMisspeltWide(policy);
      return { ...row, policy, isSound, selectors: isSound ? [policy.spec?.destinationSelector] : NONE };
    },
  });
}

const trafficFindings = remembered((policy: TrafficPolicy) => [...ineffectiveFindings(policy), ...requestFindings(policy.spec ?? {})]);

/** AccessPolicies: those whose references hold, and of which everything is understood, are sound. */
export function checkAccessPolicies(step: AttachmentStep, before: Table<CheckedAccess>): Steps<Table<CheckedAccess>> {
  return checked(step, before, {
    kind: AccessPolicy,
    findingsOf: accessFindings,
    isMistaken: (policy, limit) => namesBeyond(policy, limit),
    madeOf: (row, policy) => {
      const bearing = accessBearing(policy, row.isSound);
      return { ...row, policy, selectors: selectorsOf(bearing), bearing };
    },
  });
}

interface Checks<P extends TrafficPolicy | AccessPolicy, C extends CheckedPolicy<P>> {
  readonly kind: Kind<P>;
  findingsOf(policy: P, limit: Limit): readonly Finding[];
  /** Whether it is not sound for another reason, which the findings about its reach tell. */
  isMistaken(policy: P, limit: Limit): boolean;
  madeOf(row: Pick<C, "key" | "isSound" | "reports">, policy: P): C;
}

function* checked<P extends TrafficPolicy | AccessPolicy, C extends CheckedPolicy<P>>(
  step: AttachmentStep,
  before: Table<C>,
  { kind, findingsOf, isMistaken, madeOf }: Checks<P, C>,
): Steps<Table<C>> {
  const policies = step.inputs.of(kind);
  const destinations = step.inputs.of(Destination);
  const reach = reachIn(step.surroundings);
  return yield* remade(before, affectedPolicies(step, kind), (key, row): C | undefined => {
    const policy = policies.row(key);
    if (policy === undefined) return undefined;
    const limit = reach.limitOf(policy);
    const grounds = [
      ...selectorFindings("spec.destinationSelector", policy.spec?.destinationSelector, { destinations, limit }),
      ...findingsOf(policy, limit),
    ];
    const isSound = grounds.every(({ state }) => state !== "INVALID") && !isMistaken(policy, limit);
    // To ask for too much takes nothing away of what is in reach.
    const findings = [...reachFindings(policy, limit), ...grounds];
    const reports = findings.length === 0 ? NONE : findings.map((finding) => reported(refOf(policy), finding));
    const made = madeOf({ key, isSound, reports }, policy);
    return row?.policy === policy && row.isSound === made.isSound && equalJson(row.reports, reports) ? row : made;
  });
}

const NONE: readonly never[] = [];

/** The policies that changed, or that name a service which came or went. */
function affectedPolicies<P extends TrafficPolicy | AccessPolicy>(
  { inputs, surroundings, since }: AttachmentStep,
  kind: Kind<P>,
): Iterable<string> {
  const policies: Collection<P> = inputs.of(kind);
  if (since === undefined) return keysOf(policies);
  // The Settings say how far they reach.
  if (since.surroundings !== surroundings) return new Set([...keysOf(policies), ...since.changes.of(kind).map(({ key }) => key)]);
  const affected = new Set(since.changes.of(kind).map(({ key }) => key));
  for (const { before, after } of since.changes.of(Destination)) {
    const [left, right] = [before === undefined ? [] : byService(before), after === undefined ? [] : byService(after)];
    if (left[0] === right[0]) continue;
    for (const service of [...left, ...right])
      for (const policy of policies.where(byNamedService, service)) affected.add(keyOfResource(policy));
  }
  return affected;
}

/** Policies by each service that their destination selector names. */
function byNamedService({ spec }: TrafficPolicy | AccessPolicy): readonly string[] {
  return (spec?.destinationSelector ?? []).flatMap(({ kubeServiceRefs }) =>
    (kubeServiceRefs?.services ?? []).map((ref) => keyOf(serviceOf(ref))),
  );
}

/** The sound policies that select a Destination, in order of precedence. */
export function policiesOn<P extends TrafficPolicy | AccessPolicy>(
  destination: Destination,
  policies: Table<CheckedPolicy<P>>,
  ages: Ages,
): readonly P[] {
  const selecting: P[] = [];
  for (const { policy } of selectingCandidates({ where: (key) => policies.where(bySelection, key) }, destination)) {
    if (selectsDestination(policy.spec?.destinationSelector, destination)) selecting.push(policy);
  }
  return exactly(selecting.length < 2 ? selecting : selecting.sort(precedence(ages)));
}

function bySelection({ selectors }: CheckedPolicy<TrafficPolicy | AccessPolicy>): readonly string[] {
  if (selectors.length < 2) return selectors.flatMap(selectionKeys);
  return [...new Set(selectors.flatMap(selectionKeys))];
}

/** The selectors of policies that are not as they were. */
export function* changedSelectors<C extends CheckedPolicy<TrafficPolicy | AccessPolicy>>(
  policies: Table<C>,
  before: Table<C>,
): Iterable<Selectors> {
  for (const { selectors } of versionsOf(policies.changesSince(before))) yield* selectors;
}

/** The AccessPolicies that bear on a Destination. */
export interface AccessOn {
  /** As they are written, in order of precedence. */
  readonly policies: readonly AccessPolicy[];
  /** What stands for those that can't be in force as they are written, or perhaps can't once they are translated, in order of precedence. */
  readonly held: readonly HeldAccess[];
}

/** What of AccessPolicies bears on a Destination. */
export function accessOn(destination: Destination, policies: Table<CheckedAccess>, ages: Ages): AccessOn {
  const byPrecedence = precedence(ages);
  const written: AccessPolicy[] = [];
  const held: HeldAccess[] = [];
  for (const { policy, bearing } of selectingCandidates({ where: (key) => policies.where(bySelection, key) }, destination)) {
    const on = bearingOn(destination, bearing);
    if (on.isWritten) written.push(policy);
    if (on.held !== undefined) held.push(on.held);
  }
  return {
    policies: exactly(written.length < 2 ? written : written.sort(byPrecedence)),
    held: held.length === 0 ? NONE : exactly(held.sort((a, b) => byPrecedence(a.policy, b.policy))),
  };
}
