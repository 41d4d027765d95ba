import type { HttpRoute, TrafficPolicy, VirtualService } from "@isthmus/api";
import { merged } from "@isthmus/core";
import { hostnameFrom } from "../../policy/hostnames.ts";
import type { DestinationInputs } from "../inputs.ts";
import type { RouteFields } from "./features/feature.ts";
import { matchRequests } from "./matches.ts";
import type { SourceContext } from "./policyFields.ts";
import { mergedRouteFields, policyGroups } from "./policyGroups.ts";
import { referencesOf, routeContext } from "./routeContext.ts";
import type { Source } from "./source.ts";
import { bySpecificity } from "./specificity.ts";

type VirtualServiceSpec = NonNullable<VirtualService["spec"]>;

/** What the VirtualService says that routes requests from one source to a Destination; undefined when no policy says how. */
export function virtualServiceSpec(inputs: DestinationInputs, source: Source): VirtualServiceSpec | undefined {
  const { destination, translationContext } = inputs;
  const service = destination.spec?.kubeService?.ref;
  if (service === undefined || inputs.trafficPolicies.length === 0) return undefined;
  const host = hostnameFrom(source.clusterName, { service, destination }, translationContext.clusterDomains);
  const ports = (destination.spec?.kubeService?.ports ?? []).map(({ port = 0 }) => port);
  const context = routeContext(source, referencesOf(inputs));
  const http = routesOf(inputs.trafficPolicies, context, { host, ports });
  return http.length === 0 ? undefined : { hosts: [host], http };
}

/** For each match of each group of policies and each port of the host one route, the more specific first. */
export function routesOf(
  trafficPolicies: readonly TrafficPolicy[],
  context: SourceContext,
  { host, ports }: { readonly host: string; readonly ports: readonly number[] },
): readonly HttpRoute[] {
  const routes: HttpRoute[] = [];
  for (const { matches, policies } of policyGroups(trafficPolicies, context.clusterName)) {
    const fields = mergedRouteFields(policies, context);
    if (Object.keys(fields).length === 0) continue;
    for (const port of ports) {
      const route = withTargets(fields, host, port);
      for (const match of matchRequests(matches)) routes.push(merged({ match: [merged(match, { port })] }, route));
    }
  }
  return routes.sort(bySpecificity);
}

/** The route's targets, or else the host itself; a target without a port gets the port of the request. */
function withTargets(fields: RouteFields, host: string, port: number): RouteFields {
  const targets = fields.route ?? [{ destination: { host } }];
  const route = targets.map((target) => ({ ...target, destination: { port: { number: port }, ...target.destination } }));
  return merged(fields, { route });
}
