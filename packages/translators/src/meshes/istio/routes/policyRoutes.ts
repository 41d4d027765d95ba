import type { HttpMatchRequest, TrafficPolicy } from "@isthmus/api";
import type { RouteFields } from "../features/feature.ts";
import { routeFields, type SourceContext } from "../policyFields.ts";
import { implies } from "./impliedMatches.ts";
import { matchRequests } from "./matches.ts";
import { type PolicyGroup, policyGroups } from "./policyGroups.ts";
import { bySpecificity } from "./specificity.ts";

/** What some requests from one source meet: of its policies the first that sets a field counts for that field. */
export interface PolicyRoute {
  readonly match: HttpMatchRequest;
  readonly policies: readonly TrafficPolicy[];
}

/**
 * The routes of policies for requests from one source, the more specific first, as Istio takes the first whose match holds. Each has what its
 * own policies say, and whatever else wider ones say of all its requests: by policies a narrow one adds to a wide one, and a request has
 * one route alone (docs/decisions/0160).
 */
export function policyRoutes(policies: readonly TrafficPolicy[], context: SourceContext): readonly PolicyRoute[] {
  const routes = policyGroups(policies, context.clusterName)
    .filter((group) => Object.keys(mergedRouteFields(group.policies, context)).length > 0)
    .flatMap((group) => matchRequests(group.matches).map((match) => ({ match, group })))
    .sort((a, b) => bySpecificity({ match: [a.match] }, { match: [b.match] }));
  return routes.map(({ match, group }, i) => {
    const groups = new Set<PolicyGroup>([group]);
    for (const wider of routes.slice(i + 1)) {
      if (!groups.has(wider.group) && implies(match, wider.match)) groups.add(wider.group);
    }
    return { match, policies: groups.size === 1 ? group.policies : [...groups].flatMap((one) => one.policies) };
  });
}

/** The route fields that policies set together; where two set one field, the one that comes first counts. */
export function mergedRouteFields(policies: readonly TrafficPolicy[], context: SourceContext): RouteFields {
  const [first, ...others] = policies;
  if (first === undefined) return {};
  if (others.length === 0) return routeFields.fieldsOf(first, context);
  return Object.assign({}, ...policies.map((policy) => routeFields.fieldsOf(policy, context)).reverse());
}
