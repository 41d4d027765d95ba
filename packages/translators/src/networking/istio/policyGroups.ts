import type { TrafficPolicy, TrafficPolicyRules } from "@isthmus/api";
import type { Finding } from "../../findings.ts";
import { remembered } from "../../remembered.ts";
import type { CheckedRoutePolicy, RouteContext, RouteFields } from "./features/feature.ts";
import { routePolicies } from "./features/index.ts";
import { bySources, equalMatches, type Matches, matchesFrom } from "./matches.ts";
import type { References } from "./routeContext.ts";

/** Policies that are for the same requests from one source: together they make one route for each match. */
export interface PolicyGroup {
  readonly matches: Matches;
  readonly policies: readonly TrafficPolicy[];
}

/**
 * The policies that are for requests from a cluster, by what requests they are for. Members are in order of precedence; groups
 * too, but those whose sources are of this cluster alone come first.
 */
export function policyGroups(policies: readonly TrafficPolicy[], clusterName: string): readonly PolicyGroup[] {
  const groups: { matches: Matches; policies: TrafficPolicy[] }[] = [];
  for (const policy of policies) {
    const matches = matchesFrom(clusterName, policy.spec ?? {});
    if (matches === undefined) continue;
    const group = groups.find((candidate) => equalMatches(candidate.matches, matches));
    if (group === undefined) groups.push({ matches, policies: [policy] });
    else group.policies.push(policy);
  }
  return groups.sort((a, b) => bySources(a.matches, b.matches));
}

/** What route policies may know, whichever policy they come from. */
export interface SourceContext extends Omit<RouteContext, "virtualDestinationOf"> {
  readonly virtualDestinationOf: References["virtualDestinationOf"];
}

/** The route fields that one policy sets. */
export function routeFieldsOf(policy: TrafficPolicy, context: SourceContext): RouteFields {
  const rules = policy.spec?.policy;
  if (rules === undefined) return {};
  const everywhere = (context.allowsHeaderOperators ? fieldsWithOperators : fieldsEverywhere)(rules);
  return asksContext(rules) ? { ...everywhere, ...fieldsOf(dependent, rules, contextOf(policy, context)) } : everywhere;
}

/** What is wrong with the routes that one policy asks for, from one source. */
export function routeFindingsOf(policy: TrafficPolicy, context: SourceContext): readonly Finding[] {
  const rules = policy.spec?.policy;
  if (rules === undefined) return [];
  const everywhere = (context.allowsHeaderOperators ? findingsWithOperators : findingsEverywhere)(rules);
  if (!asksContext(rules)) return everywhere;
  const own = contextOf(policy, context);
  return [...findingsOf(dependent, rules, own), ...everywhere];
}

/** A policy names VirtualDestinations as its own cluster knows them. */
function contextOf({ metadata }: TrafficPolicy, context: SourceContext): RouteContext {
  const { clusterName = "" } = metadata;
  return { ...context, virtualDestinationOf: ({ name, namespace }) => context.virtualDestinationOf({ name, namespace, clusterName }) };
}

/** The route fields that policies set together; where two set one field, the one with precedence counts. */
export function mergedRouteFields(policies: readonly TrafficPolicy[], context: SourceContext): RouteFields {
  const [first, ...others] = policies;
  if (first === undefined) return {};
  if (others.length === 0) return routeFieldsOf(first, context);
  return Object.assign({}, ...policies.map((policy) => routeFieldsOf(policy, context)).reverse());
}

const dependent = routePolicies.filter(({ dependsOnSource }) => dependsOnSource);
const independent = routePolicies.filter(({ dependsOnSource }) => !dependsOnSource);

const fieldsEverywhere = remembered((rules: TrafficPolicyRules) => fieldsOf(independent, rules, NOWHERE));
const fieldsWithOperators = remembered((rules: TrafficPolicyRules) => fieldsOf(independent, rules, WITH_OPERATORS));
const findingsEverywhere = remembered((rules: TrafficPolicyRules) => findingsOf(independent, rules, NOWHERE));
const findingsWithOperators = remembered((rules: TrafficPolicyRules) => findingsOf(independent, rules, WITH_OPERATORS));

function findingsOf(policies: readonly CheckedRoutePolicy[], rules: TrafficPolicyRules, context: RouteContext): readonly Finding[] {
  return policies.flatMap(({ check }) => check?.(rules, context) ?? []);
}

function fieldsOf(policies: readonly CheckedRoutePolicy[], rules: TrafficPolicyRules, context: RouteContext): RouteFields {
  return Object.assign({}, ...policies.map(({ policy }) => policy(rules, context)));
}

/** Whether the answer of a policy can be another one for each source. */
export function asksContext({ trafficShift, mirror }: TrafficPolicyRules): boolean {
  return trafficShift !== undefined || mirror !== undefined;
}

/** What route policies are given that must not ask. */
const NOWHERE: RouteContext = {
  clusterName: "",
  allowsHeaderOperators: false,
  destinationOf: unasked,
  virtualDestinationOf: unasked,
  hostnameOf: unasked,
  isFederatedHere: unasked,
};

const WITH_OPERATORS: RouteContext = { ...NOWHERE, allowsHeaderOperators: true };

function unasked(): never {
  throw new Error("a route policy that asks for its context must be listed with dependsOnSource");
}
