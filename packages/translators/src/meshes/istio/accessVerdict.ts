import { type AuthorizationPolicy, rootNamespaceOf } from "@isthmus/api";
import { isOwnedBy, keyOf, matchesLabels, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import type { AccessFacts, AccessQuery, AccessVerdict, DecidedAt, Verdict } from "../access.ts";
import { networkingOwner } from "../outputMetadata.ts";
import { accessRules } from "./authorizationPolicies.ts";
import { istioDestinationEffect } from "./destinationEffect.ts";
import { MUTUAL } from "./features/mtls.ts";
import { all, any, type Identity, type Match, ruleMatch } from "./ruleMatches.ts";
import { trustDomainOf } from "./trustDomainOf.ts";

/**
 * Whether a Destination lets a request in, in the order in which Istio decides: CUSTOM, DENY, ALLOW; without any object that allows, everybody
 * is. Source: istio.io/docs/concepts/security, Implicit enablement. Of Cilium nothing is said.
 */
export function istioAccessVerdict(facts: AccessFacts, question: AccessQuery): AccessVerdict {
  const reach = reachOf(facts);
  if (reach === undefined) return { verdict: "UNREACHABLE", at: "FEDERATION", objects: [], policies: [], hasIdentity: false };
  const identity = reach.isMutual ? identityOf(facts, question) : undefined;
  const verdicts = labelsBehind(facts).map((labels) => ofPods(labels, { facts, question, identity }));
  const [first, ...others] = verdicts;
  if (first === undefined) return { verdict: "UNKNOWN", at: "NO_OBJECT", objects: [], policies: [], hasIdentity: identity !== undefined };
  const isSame = others.every(({ verdict }) => verdict === first.verdict);
  const objects = distinct(verdicts.flatMap((one) => one.objects));
  const policies = distinct(verdicts.flatMap((one) => one.policies));
  const isUnknown = verdicts.some(({ verdict }) => verdict === "UNKNOWN");
  return { ...first, ...(isSame ? {} : { verdict: isUnknown ? "UNKNOWN" : "RESTRICTED" }), objects, policies };
}

/** How a caller's mesh connects to the Destination; undefined when it has no host there. */
function reachOf({ inputs, callerMesh }: AccessFacts): { readonly isMutual: boolean } | undefined {
  if (callerMesh === undefined) return undefined;
  const { installation } = callerMesh.spec?.istio ?? {};
  const from = effectOf(inputs)?.sources.find(({ cluster }) => cluster === (installation?.cluster ?? ""));
  const tls = from?.connection.find(({ field }) => field === "tls")?.value as { readonly mode?: string } | undefined;
  // Without a mode, between sidecars, Istio's auto mTLS.
  return from === undefined ? undefined : { isMutual: tls?.mode === undefined || tls.mode === MUTUAL };
}

// Asked for each caller.
const effectOf = memoizeRow(istioDestinationEffect);

/** Istio takes `cluster.local` for the trust domain of the mesh that decides. Source: istio.io, Trust domain migration. */
function identityOf({ inputs, callerMesh }: AccessFacts, { caller }: AccessQuery): Identity | undefined {
  const domain = callerMesh && trustDomainOf(callerMesh)?.trustDomain;
  if (domain === undefined) return undefined;
  const domains = domain === trustDomainOf(inputs.mesh)?.trustDomain ? [domain, "cluster.local"] : [domain];
  return { principals: domains.map((one) => `${one}/ns/${caller.namespace}/sa/${caller.serviceAccount}`), namespace: caller.namespace };
}

type Labels = Readonly<Record<string, string>>;

/** Labels of the pods behind a Service; where none is known, those that it selects. */
function labelsBehind({ inputs: { destination, workloads } }: AccessFacts): readonly Labels[] {
  const known = workloads.map(({ spec }) => spec?.kubernetes?.podLabels ?? {});
  return known.length > 0 ? known : [destination.spec?.kubeService?.workloadSelectorLabels ?? {}];
}

interface Asked {
  readonly facts: AccessFacts;
  readonly question: AccessQuery;
  readonly identity: Identity | undefined;
}

interface Outcome {
  readonly object: AuthorizationPolicy;
  readonly match: Match;
  /** Positions of the rules that match, or may. */
  readonly rules: readonly number[];
}

function ofPods(labels: Labels, { facts, question, identity }: Asked): AccessVerdict {
  const hasIdentity = identity !== undefined;
  const decided = (verdict: Verdict, at: DecidedAt, outcomes: readonly Outcome[]): AccessVerdict => ({
    verdict,
    at,
    objects: outcomes.map(({ object }) => refOf(object)),
    policies: distinct(outcomes.flatMap((outcome) => policiesOf(outcome, facts))),
    hasIdentity,
  });
  const outcomes = (action: string) =>
    facts.objects.flatMap((resource): readonly Outcome[] => {
      const object = resource as AuthorizationPolicy;
      if ((object.spec?.action ?? "ALLOW") !== action || !appliesTo(object, labels, facts)) return [];
      const matches = ((object.spec?.rules ?? []) as readonly unknown[]).map((rule) => ruleMatch(rule, question, identity));
      return [{ object, match: any(matches), rules: matches.flatMap((match, i) => (match === "no" ? [] : [i])) }];
    });
  const matching = (all: readonly Outcome[], match: Match) => all.filter((one) => one.match === match);
  const [custom, deny, allow] = [outcomes("CUSTOM"), outcomes("DENY"), outcomes("ALLOW")];
  const denied = matching(deny, "yes");
  if (denied.length > 0) return decided("DENIED", "DENY", denied);
  const allowed = any(allow.map(({ match }) => match));
  if (allow.length > 0 && allowed === "no") {
    return { ...decided("DENIED", "NO_RULE", allow), policies: accessRules(facts.inputs).policies.map((policy) => refOf(policy)) };
  }
  const asked = custom.filter(({ match }) => match !== "no");
  if (asked.length > 0) return decided("UNKNOWN", "CUSTOM", asked);
  const doubtful = deny.filter(({ match }) => match !== "no");
  const at: DecidedAt = allow.length === 0 ? "NO_OBJECT" : "ALLOW";
  const openTo = allow.filter(({ match }) => match !== "no");
  const total = all([
    doubtful.length === 0 ? "yes" : (doubtful.find(({ match }) => match === "unknown")?.match ?? "some"),
    allow.length === 0 ? "yes" : allowed,
  ]);
  if (total === "yes") return decided("ALLOWED", at, openTo);
  return decided(total === "some" ? "RESTRICTED" : "UNKNOWN", doubtful.length > 0 ? "DENY" : at, [...doubtful, ...openTo]);
}

/** Objects in the root namespace are about every namespace. Those for gateways are about none of these pods. */
function appliesTo({ metadata, spec }: AuthorizationPolicy, labels: Labels, { inputs: { destination, mesh } }: AccessFacts): boolean {
  const { targetRef, targetRefs } = (spec ?? {}) as { readonly targetRef?: unknown; readonly targetRefs?: unknown };
  if (targetRef !== undefined || targetRefs !== undefined) return false;
  const place = metadata.namespace ?? "";
  const isThere = place === destination.spec?.kubeService?.ref?.namespace || place === rootNamespaceOf(mesh);
  return isThere && matchesLabels(spec?.selector?.matchLabels ?? {}, labels);
}

/** The AccessPolicies that matching rules are from: of our own object about the Destination, one rule each. */
function policiesOf({ object, rules }: Outcome, { inputs }: AccessFacts): readonly ResourceRef[] {
  const { name = "", namespace = "" } = inputs.destination.spec?.kubeService?.ref ?? {};
  const isOurs = isOwnedBy(object, networkingOwner(inputs.translationContext.namespace));
  const here = keyOf({ name, namespace, clusterName: "" });
  if (!isOurs || keyOf({ name: object.metadata.name, namespace: object.metadata.namespace ?? "", clusterName: "" }) !== here) return [];
  const { results } = accessRules(inputs);
  return rules.flatMap((i) => (results[i] === undefined ? [] : [refOf(results[i].policy)]));
}

function distinct(refs: readonly ResourceRef[]): readonly ResourceRef[] {
  return [...new Map(refs.map((ref) => [resourceKeyOf(ref), ref])).values()];
}
