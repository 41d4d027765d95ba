import { type AccessPolicy, type AuthorizationPolicy, type AuthorizationRule, rootNamespaceOf } from "@isthmus/api";
import { formatRef, type Report, type Resource, refOf } from "@isthmus/core";
import { type Finding, reportOf, warningFinding } from "../../../findings.ts";
import type { AccessQuery } from "../../access.ts";
import type { DestinationInputs } from "../../inputs.ts";
import { type AskedPort, askedPorts } from "../askedPorts.ts";
import { any, type Identity, ruleMatch } from "../routes/ruleMatches.ts";
import { peerTlsMode } from "./peerAuthentications.ts";
import { expandedPrincipals } from "./principalPatterns.ts";
import {
  isAboutPods,
  isAmbient,
  isAuthorizationPolicy,
  isDryRun,
  isPeerAuthentication,
  ownTrustDomains,
  type PodsInputs,
  podsWithProxy,
} from "./rulesOnPods.ts";

/** An AccessPolicy and what is written of it. */
interface Enforced {
  readonly policy: AccessPolicy;
  readonly result: { readonly rule: AuthorizationRule };
}

type Inputs = PodsInputs & Pick<DestinationInputs, "userAccess">;

/**
 * Warns of AccessPolicies that come to something else than they say, by objects of users about the same pods: rules that let others in, deny what they
 * allow or leave it to another program, modes that leave callers without an identity; and by pods that have no proxy.
 */
export function usersAccess(inputs: Inputs, enforced: readonly Enforced[]): readonly Report[] {
  const { destination, userAccess } = inputs;
  const { outsideMesh = [] } = destination.spec?.kubeService ?? {};
  if (enforced.length === 0 || (userAccess.length === 0 && outsideMesh.length === 0)) return [];
  const pods = podsWithProxy(inputs);
  const rules = userAccess
    .filter(isAuthorizationPolicy)
    .filter((one) => !isDryRun(one) && pods.some((labels) => isAboutPods(one, labels, inputs)));
  return enforced.flatMap(({ policy, result: { rule } }) => {
    const named = nameFor(policy, destination.spec?.kubeService?.ref?.clusterName ?? "");
    const found = [
      ...rules.flatMap((object) => ofRule(object, rule, { inputs, named, enforced })),
      ...withoutIdentity(rule, { inputs, named }),
      ...(outsideMesh.length === 0 ? [] : isAmbient(inputs) ? ambientPods(rule, outsideMesh) : [openPods(outsideMesh)]),
    ];
    return found.map((finding) => reportOf(refOf(policy), about(finding, inputs), refOf(destination)));
  });
}

/** How an object is called in what a policy says: a user who writes in one cluster learns no names of another. */
function nameFor(policy: AccessPolicy, clusterName: string): (object: Resource) => string {
  const { clusterName: from = "" } = policy.metadata;
  return (object) => (from === "" || from === clusterName ? `${formatRef(refOf(object))} of a user` : `an object of kind ${object.kind}`);
}

function about({ code, message }: Finding, { destination }: Inputs): Finding {
  return warningFinding(code, `${formatRef(refOf(destination))}: ${message}`);
}

interface Told {
  readonly inputs: Inputs;
  readonly named: (object: Resource) => string;
}

function ofRule(
  object: AuthorizationPolicy,
  rule: AuthorizationRule,
  { inputs, named, enforced }: Told & { readonly enforced: readonly Enforced[] },
): readonly Finding[] {
  const { action = "ALLOW", rules = [] } = object.spec ?? {};
  if (action === "ALLOW") {
    // Who lets everybody in has nothing opened.
    if (rule.from === undefined && rule.to === undefined) return [];
    if (rules.every((one) => isCovered(one, object, { inputs, enforced }))) return [];
    const message = `${named(object)} lets callers in, too, as rules that allow add up: remove it, or say the same in AccessPolicies alone`;
    return [warningFinding("AccessWidened", message)];
  }
  if (action !== "DENY" && action !== "CUSTOM") return [];
  const share = shareOf(object, rule, inputs);
  if (share === "none") return [];
  const what = share === "all" ? "the calls that this policy allows" : "some of the calls that this policy allows";
  const message =
    action === "DENY"
      ? `${named(object)} denies ${what}, and what denies comes first: remove it, or narrow it`
      : `${named(object)} leaves ${what} to another program: remove it, or narrow it`;
  return [warningFinding("AccessNarrowed", message)];
}

/**
 * How many of the calls that a rule allows an object is about, as far as the rule names them: a guard on what it leaves open, such as some paths for
 * everybody, is usually meant.
 */
function shareOf(object: AuthorizationPolicy, allowed: AuthorizationRule, inputs: Inputs): "all" | "some" | "none" {
  const own = ownTrustDomains(inputs);
  const rules = (object.spec?.rules ?? []) as readonly unknown[];
  const matches = askedPorts(inputs.destination, undefined).flatMap((port) =>
    questionsOf(allowed, port).flatMap((question) =>
      callersNamed(allowed).map((identity) => {
        const reading = { own, namespace: object.metadata.namespace ?? "", allows: false, isHttp: port.isHttp };
        return any(rules.map((rule) => ruleMatch(rule, { question, identity, reading })));
      }),
    ),
  );
  if (!matches.includes("yes")) return "none";
  return matches.every((match) => match === "yes") ? "all" : "some";
}

/** Whether AccessPolicies name all callers that a rule of a user lets in. */
function isCovered(
  rule: AuthorizationRule,
  object: AuthorizationPolicy,
  { inputs, enforced }: { readonly inputs: Inputs; readonly enforced: readonly Enforced[] },
): boolean {
  const { from = [] } = rule;
  // Of what else a source may say, nobody knows whom it leaves out.
  const isNamed = ({ source = {} }: (typeof from)[number]) =>
    Object.keys(source).every((member) => member === "principals" || member === "namespaces");
  const principals = from.flatMap(({ source }) => source?.principals ?? []);
  if (from.length === 0 || !from.every(isNamed) || principals.some((principal) => principal.includes("*"))) return false;
  const namespaces = from.flatMap(({ source }) => source?.namespaces ?? []);
  if (namespaces.some((namespace) => namespace.includes("*"))) return false;
  const reading = { own: ownTrustDomains(inputs), namespace: object.metadata.namespace ?? "", allows: true, isHttp: true };
  const callers = [
    ...principals.flatMap((principal) => expandedPrincipals(principal, reading.own)).flatMap(identityOf),
    ...namespaces.map(somebodyIn),
  ];
  return callers.every((identity) =>
    enforced.some(({ result }) => ruleMatch(result.rule, { question: { caller: NOBODY }, identity, reading }) !== "no"),
  );
}

const NOBODY = { clusterName: "", namespace: "", serviceAccount: "" };
const MOST_QUESTIONS = 100;

/** What a rule allows at a port, as far as it names it; texts with stars are left open. */
function questionsOf({ to = [{}] }: AuthorizationRule, { number }: AskedPort): readonly AccessQuery[] {
  const exact = (values: readonly string[] | undefined) =>
    values === undefined || values.some((value) => value.includes("*")) ? [undefined] : values;
  return to
    .flatMap(({ operation: { ports, methods, paths } = {} }) => {
      if (ports !== undefined && number !== undefined && !ports.includes(String(number))) return [];
      return exact(methods).flatMap((method) =>
        exact(paths).map(
          (path): AccessQuery => ({
            caller: NOBODY,
            ...(number === undefined ? {} : { port: number }),
            ...(method === undefined ? {} : { method }),
            ...(path === undefined ? {} : { path }),
          }),
        ),
      );
    })
    .slice(0, MOST_QUESTIONS);
}

/** The callers that a rule names by their full names; where it names none, somebody in each namespace that it names, else anybody. */
function callersNamed({ from = [] }: AuthorizationRule): readonly Identity[] {
  const principals = from.flatMap(({ source }) => source?.principals ?? []);
  const exact = principals.flatMap(identityOf);
  if (exact.length > 0) return exact;
  const namespaces = from.flatMap(({ source }) => source?.namespaces ?? []);
  return (namespaces.length === 0 ? ["-"] : namespaces).map(somebodyIn);
}

/** Of a principal that names one service account. */
function identityOf(principal: string): readonly Identity[] {
  const [, , namespace = "", , serviceAccount = ""] = principal.split("/");
  return principal.includes("*") || serviceAccount === "" ? [] : [{ principal, namespace, serviceAccount }];
}

function somebodyIn(namespace: string): Identity {
  return { principal: `-/ns/${namespace}/sa/-`, namespace, serviceAccount: "-" };
}

/** Where mutual TLS is switched off, rules about callers match nobody. */
function withoutIdentity(rule: AuthorizationRule, { inputs, named }: Told): readonly Finding[] {
  if (rule.from === undefined) return [];
  const { destination, mesh, userAccess } = inputs;
  const place = { namespace: destination.spec?.kubeService?.ref?.namespace ?? "", rootNamespace: rootNamespaceOf(mesh) };
  const peers = userAccess.filter(isPeerAuthentication);
  const disabling = podsWithProxy(inputs).flatMap((labels) =>
    askedPorts(destination, undefined).flatMap(({ number }) => {
      const { mode, by } = peerTlsMode(peers, { labels, ...place }, number);
      return mode === "DISABLE" && by !== undefined ? [by] : [];
    }),
  );
  return [...new Set(disabling)].map((by) =>
    warningFinding(
      "CallersWithoutIdentity",
      `callers have no identity at pods or ports for which ${named(by)} switches mutual TLS off, so this policy lets none of them in there: set mode PERMISSIVE or STRICT in it`,
    ),
  );
}

/** The proxy of a node checks who calls, and knows nothing of HTTP: a rule that asks for it denies all callers. Source: istio.io/docs/ambient/usage/l4-policy. */
function ambientPods({ to = [] }: AuthorizationRule, controllers: readonly string[]): readonly Finding[] {
  const asksForHttp = to.some(({ operation = {} }) => Object.keys(operation).some((member) => member !== "ports" && member !== "notPorts"));
  if (!asksForHttp) return [];
  const message =
    `its Service selects pods in ambient mode, of ${controllers.join(", ")}, where no paths and methods can be checked, so this policy denies all callers there: ` +
    "have sidecars injected there, or name ports alone";
  return [warningFinding("AccessNarrowed", message)];
}

function openPods(controllers: readonly string[]): Finding {
  return warningFinding(
    "AccessWidened",
    `its Service selects pods without a sidecar, of ${controllers.join(", ")}, which every caller can call: have sidecars injected there`,
  );
}
