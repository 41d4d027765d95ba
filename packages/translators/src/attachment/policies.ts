import { AccessPolicy, Destination, type DestinationSelector, TrafficPolicy } from "@isthmus/api";
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
import { serviceOf } from "../networking/istio/routes/targets.ts";
import { remembered } from "../remembered.ts";
import type { AttachmentStep } from "./attachment.ts";
import { byService } from "./indexes.ts";
import { accessFindings, ineffectiveFindings, isMisspeltWide } from "./ineffective.ts";
import { byPrecedence } from "./ordering.ts";
import { selectorFindings } from "./references.ts";
import { selectingCandidates, selectionKeys } from "./selection.ts";
import { selectsDestination } from "./selectors.ts";

/** A policy, and what can be said of it before any Destination is looked at. */
export interface CheckedPolicy<P extends TrafficPolicy | AccessPolicy> {
  readonly key: string;
  readonly policy: P;
  /** Whether its references hold, and enough of it is understood: else it is in force nowhere. */
  readonly isSound: boolean;
  readonly reports: readonly Report[];
}

/** No policy. */
export function noPolicies<P extends TrafficPolicy | AccessPolicy>(): Table<CheckedPolicy<P>> {
  return emptyTable(({ key }) => key);
}

/** TrafficPolicies: those whose references hold are sound. */
export function checkTrafficPolicies(
  step: AttachmentStep,
  before: Table<CheckedPolicy<TrafficPolicy>>,
): Steps<Table<CheckedPolicy<TrafficPolicy>>> {
  return checked(step, before, { kind: TrafficPolicy, findingsOf: trafficFindings, isTooWide: isMisspeltWide });
}

const trafficFindings = remembered((policy: TrafficPolicy) => [...ineffectiveFindings(policy), ...requestFindings(policy.spec ?? {})]);

/** AccessPolicies: those whose references hold, and of which everything is understood, are sound. */
export function checkAccessPolicies(
  step: AttachmentStep,
  before: Table<CheckedPolicy<AccessPolicy>>,
): Steps<Table<CheckedPolicy<AccessPolicy>>> {
  return checked(step, before, { kind: AccessPolicy, findingsOf: accessFindings, isTooWide: () => false });
}

interface Checks<P extends TrafficPolicy | AccessPolicy> {
  readonly kind: Kind<P>;
  findingsOf(policy: P): readonly Finding[];
  isTooWide(policy: P): boolean;
}

function* checked<P extends TrafficPolicy | AccessPolicy>(
  step: AttachmentStep,
  before: Table<CheckedPolicy<P>>,
  { kind, findingsOf, isTooWide }: Checks<P>,
): Steps<Table<CheckedPolicy<P>>> {
  const policies = step.inputs.of(kind);
  const destinations = step.inputs.of(Destination);
  return yield* remade(before, affectedPolicies(step, kind), (key, row): CheckedPolicy<P> | undefined => {
    const policy = policies.row(key);
    if (policy === undefined) return undefined;
    const findings = [
      ...selectorFindings("spec.destinationSelector", policy.spec?.destinationSelector, destinations),
      ...findingsOf(policy),
    ];
    const isSound = findings.every(({ state }) => state !== "INVALID") && !isTooWide(policy);
    const reports = findings.length === 0 ? NONE : findings.map((finding) => reported(refOf(policy), finding));
    return row?.policy === policy && row.isSound === isSound && equalJson(row.reports, reports) ? row : { key, policy, isSound, reports };
  });
}

const NONE: readonly Report[] = [];

/** The policies that changed, or that name a service which came or went. */
function affectedPolicies<P extends TrafficPolicy | AccessPolicy>({ inputs, since }: AttachmentStep, kind: Kind<P>): Iterable<string> {
  const policies: Collection<P> = inputs.of(kind);
  if (since === undefined) return keysOf(policies);
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
): readonly P[] {
  const selecting: P[] = [];
  for (const { policy } of selectingCandidates({ where: (key) => policies.where(bySelection, key) }, destination)) {
    if (selectsDestination(policy.spec?.destinationSelector, destination)) selecting.push(policy);
  }
  return exactly(selecting.length < 2 ? selecting : selecting.sort(byPrecedence));
}

function bySelection({ policy, isSound }: CheckedPolicy<TrafficPolicy | AccessPolicy>): readonly string[] {
  return isSound ? selectionKeys(policy.spec?.destinationSelector) : [];
}

/** The selectors of sound policies that are not as they were. */
export function* changedSelectors<P extends TrafficPolicy | AccessPolicy>(
  policies: Table<CheckedPolicy<P>>,
  before: Table<CheckedPolicy<P>>,
): Iterable<readonly DestinationSelector[] | undefined> {
  for (const { policy, isSound } of versionsOf(policies.changesSince(before))) if (isSound) yield policy.spec?.destinationSelector;
}
