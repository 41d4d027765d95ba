import type { AccessPolicy } from "@isthmus/api";
import { type Report, refOf } from "@isthmus/core";
import { type Finding, invalidFinding, reportOf } from "../findings.ts";
import { lastAcceptedKeptHere, wasAccepted } from "../policy/lastAccepted.ts";
import { type AgeSource, precedence } from "../policy/precedence.ts";
import type { DestinationInputs } from "./inputs.ts";

/** What a mesh makes of one form of an AccessPolicy. */
export interface AccessTranslation<T> {
  /** Undefined where nothing of it is right; with findings that are INVALID, what of it is. */
  readonly result: T | undefined;
  readonly findings: readonly Finding[];
}

/** What of the AccessPolicies on a Destination is in force. */
export interface EnforcedAccess<T> {
  /** In order of precedence. */
  readonly results: readonly { readonly policy: AccessPolicy; readonly result: T }[];
  /** Every policy that bears on the Destination, also those that let nobody in. */
  readonly policies: readonly AccessPolicy[];
  readonly reports: readonly Report[];
}

/**
 * Each AccessPolicy as it is written, else what is right of it as it was last in force; else it denies all callers. The reports say which,
 * for this Destination.
 */
export function enforcedAccess<T>(inputs: DestinationInputs, translate: (form: AccessPolicy) => AccessTranslation<T>): EnforcedAccess<T> {
  const target = refOf(inputs.destination);
  const results: { readonly policy: AccessPolicy; readonly result: T }[] = [];
  const reports: Report[] = [];
  const requests = requestsOf(inputs);
  for (const { policy, written, last } of requests) {
    const now = written && translate(written);
    const isRight = now?.findings.every(({ state }) => state !== "INVALID") === true;
    const result = isRight ? now?.result : last && translate(last).result;
    if (result !== undefined) results.push({ policy, result });
    const kept = () => (last === policy ? PARTLY : lastAcceptedKeptHere(policy.status?.lastAccepted));
    const consequence = isRight ? [] : [result === undefined ? NOBODY : kept()];
    for (const finding of [...(now?.findings ?? []), ...consequence]) reports.push(reportOf(refOf(policy), finding, target));
  }
  return { results, policies: requests.map(({ policy }) => policy), reports };
}

interface AccessRequest {
  readonly policy: AccessPolicy;
  readonly written: AccessPolicy | undefined;
  readonly last: AccessPolicy | undefined;
}

function requestsOf({ accessPolicies, heldAccess, translationContext }: DestinationInputs): readonly AccessRequest[] {
  const acceptedAsWritten = (policy: AccessPolicy) => (wasAccepted(policy) ? policy : undefined);
  if (heldAccess.length === 0) return accessPolicies.map((policy) => ({ policy, written: policy, last: acceptedAsWritten(policy) }));
  const last = new Map(heldAccess.map(({ policy, form }) => [policy, form]));
  const written = new Set(accessPolicies);
  return effectiveAccessPolicies({ accessPolicies, heldAccess }, translationContext.ages).map((policy) =>
    written.has(policy)
      ? { policy, written: policy, last: last.get(policy) ?? acceptedAsWritten(policy) }
      : { policy, written: undefined, last: last.get(policy) },
  );
}

/** Codes of findings that tell that a policy is in force on a target though it is INVALID there. */
export const IN_FORCE_THOUGH_INVALID: ReadonlySet<string> = new Set(["PartlyInForce", "LastAcceptedInForce"]);

/** The AccessPolicies that bear on a Destination, in whatever form, in order of precedence. */
export function effectiveAccessPolicies(
  { accessPolicies, heldAccess }: Pick<DestinationInputs, "accessPolicies" | "heldAccess">,
  ages: AgeSource,
) {
  if (heldAccess.length === 0) return accessPolicies;
  return [...new Set([...accessPolicies, ...heldAccess.map(({ policy }) => policy)])].sort(precedence(ages));
}

const PARTLY = invalidFinding(
  "PartlyInForce",
  "the valid part of this policy is in force here; callers that are not found are not allowed",
);

const NOBODY = invalidFinding(
  "NobodyLetIn",
  "this policy allows no callers here, because it cannot be translated and was never in force here: correct or delete it",
);
