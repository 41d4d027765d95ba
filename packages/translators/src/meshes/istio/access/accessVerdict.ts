import { type AuthorizationPolicy, rootNamespaceOf } from "@isthmus/api";
import { isOwnedBy, keyOf, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import { memoizeRow } from "../../../incremental/memoizeRow.ts";
import type { AccessFacts, AccessQuery, AccessVerdict, DecidedAt, Verdict } from "../../access.ts";
import { networkingOwner } from "../../outputMetadata.ts";
import { type AskedPort, askedPorts } from "../askedPorts.ts";
import { istioDestinationEffect } from "../destinationEffect.ts";
import { MUTUAL } from "../features/mtls.ts";
import { all, any, type Identity, type Match, ruleMatch } from "../routes/ruleMatches.ts";
import { accessRules } from "./authorizationPolicies.ts";
import { peerTlsMode } from "./peerAuthentications.ts";
import {
  isAboutPods,
  isAmbient,
  isAuthorizationPolicy,
  isDryRun,
  isPeerAuthentication,
  ownTrustDomains,
  type PodLabels,
  podsWithProxy,
} from "./rulesOnPods.ts";
import { trustDomainOf } from "./trustDomainOf.ts";

/**
 * Whether a Destination lets a request in, in the order in which Istio decides: what its PeerAuthentication refuses, CUSTOM, DENY, ALLOW; without any
 * object that allows, everybody is. Sources: istio.io/docs/concepts/security, Implicit enablement; istio.io/istio pilot/pkg/security/authz. Of Cilium
 * nothing is said.
 */
export function istioAccessVerdict(facts: AccessFacts, question: AccessQuery): AccessVerdict {
  const reach = reachOf(facts);
  if (reach === undefined) return { verdict: "UNREACHABLE", at: "FEDERATION", objects: [], policies: [], hasIdentity: false };
  const identity = reach.isMutual ? identityOf(facts, question) : undefined;
  const asked = { facts, question, identity };
  const ports = askedPorts(facts.inputs.destination, question.port);
  const verdicts = podsBehind(facts).flatMap((labels) =>
    labels === WITHOUT_PROXY ? [isAmbient(facts.inputs) ? IN_AMBIENT : OPEN] : ports.map((port) => ofPods(labels, port, asked)),
  );
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
  const mode = tls?.mode ?? (callerMesh.spec?.istio?.autoMtlsDisabled === true ? undefined : MUTUAL);
  return from === undefined ? undefined : { isMutual: mode === MUTUAL };
}

// Asked for each caller.
const effectOf = memoizeRow(istioDestinationEffect);

function identityOf({ callerMesh }: AccessFacts, { caller: { namespace, serviceAccount } }: AccessQuery): Identity | undefined {
  const domain = callerMesh && trustDomainOf(callerMesh)?.trustDomain;
  return domain === undefined ? undefined : { principal: `${domain}/ns/${namespace}/sa/${serviceAccount}`, namespace, serviceAccount };
}

/** The pods behind a Service; one more where some have no proxy. */
function podsBehind({ inputs }: AccessFacts): readonly PodLabels[] {
  const { outsideMesh = [] } = inputs.destination.spec?.kubeService ?? {};
  return outsideMesh.length === 0 ? podsWithProxy(inputs) : [...podsWithProxy(inputs), WITHOUT_PROXY];
}

const WITHOUT_PROXY: PodLabels = {};

/** Where there is no proxy, nothing is asked. */
const OPEN: AccessVerdict = { verdict: "ALLOWED", at: "NO_PROXY", objects: [], policies: [], hasIdentity: false };

/** What the proxy of a node makes of rules is not computed. */
const IN_AMBIENT: AccessVerdict = { ...OPEN, verdict: "UNKNOWN" };

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

function ofPods(labels: PodLabels, port: AskedPort, { facts, question, identity: ofCaller }: Asked): AccessVerdict {
  const { mesh, destination } = facts.inputs;
  const place = { labels, namespace: destination.spec?.kubeService?.ref?.namespace ?? "", rootNamespace: rootNamespaceOf(mesh) };
  const tls = peerTlsMode(facts.objects.filter(isPeerAuthentication), place, port.number);
  // Where it is not taken, sidecars do not send it.
  const identity = tls.mode === "DISABLE" ? undefined : ofCaller;
  const hasIdentity = identity !== undefined;
  const decided = (verdict: Verdict, at: DecidedAt, outcomes: readonly Outcome[]): AccessVerdict => ({
    verdict,
    at,
    objects: outcomes.map(({ object }) => refOf(object)),
    policies: distinct(outcomes.flatMap((outcome) => policiesOf(outcome, facts))),
    hasIdentity,
  });
  if (tls.mode === "STRICT" && !hasIdentity)
    return { ...decided("DENIED", "PEER_TLS", []), objects: tls.by === undefined ? [] : [refOf(tls.by)] };
  const own = ownTrustDomains(facts.inputs);
  const outcomes = (action: string) =>
    facts.objects.filter(isAuthorizationPolicy).flatMap((object): readonly Outcome[] => {
      if ((object.spec?.action ?? "ALLOW") !== action || isDryRun(object) || !isAboutPods(object, labels, facts.inputs)) return [];
      const reading = { own, namespace: object.metadata.namespace ?? "", allows: action === "ALLOW", isHttp: port.isHttp };
      const matches = ((object.spec?.rules ?? []) as readonly unknown[]).map((rule) => ruleMatch(rule, { question, identity, reading }));
      return [{ object, match: any(matches), rules: matches.flatMap((match, i) => (match === "no" ? [] : [i])) }];
    });
  const matching = (some: readonly Outcome[], match: Match) => some.filter((one) => one.match === match);
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
