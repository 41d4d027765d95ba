import type { HttpRoute, TrafficPolicy, VirtualService } from "@isthmus/api";
import { merged } from "@isthmus/core";
import { hostnameFrom } from "../../../policy/hosts/hostnames.ts";
import { portsOf } from "../../../policy/hosts/serviceRefs.ts";
import type { DestinationInputs } from "../../inputs.ts";
import { NO_FAULT } from "../features/faultInjection.ts";
import type { RouteFields } from "../features/feature.ts";
import { NO_LIMIT } from "../features/requestTimeout.ts";
import type { SourceContext } from "../policyFields.ts";
import { portFamily } from "../portProtocol.ts";
import type { Source } from "../source.ts";
import { connectionRoutesOf, isOfRequests } from "./connectionRoutes.ts";
import { mergedRouteFields, policyRoutes } from "./policyRoutes.ts";
import { referencesOf, routeContext } from "./routeContext.ts";
import { bySpecificity } from "./specificity.ts";

type VirtualServiceSpec = NonNullable<VirtualService["spec"]>;

/** What the VirtualService says that routes requests from one source to a Destination; undefined when no policy says how. */
export function virtualServiceSpec(inputs: DestinationInputs, source: Source): VirtualServiceSpec | undefined {
  const { destination, translationContext } = inputs;
  const service = destination.spec?.kubeService?.ref;
  if (service === undefined || inputs.trafficPolicies.length === 0) return undefined;
  const host = hostnameFrom(source.clusterName, { service, destination }, translationContext.clusterDomains);
  const context = routeContext(source, referencesOf(inputs));
  const ports = portsOf(destination).flatMap((port) => (isOfRequests(portFamily(port)) ? [port.port ?? 0] : []));
  const http = routesOf(inputs.trafficPolicies, context, { host, ports });
  const tcp = connectionRoutesOf(inputs.trafficPolicies, context, { host, destination });
  if (http.length === 0 && tcp.length === 0) return undefined;
  return { hosts: [host], ...(http.length === 0 ? {} : { http }), ...(tcp.length === 0 ? {} : { tcp }) };
}

/** For each match of policies and each port of the host one route, the more specific first; none where no policy changes anything. */
export function routesOf(
  trafficPolicies: readonly TrafficPolicy[],
  context: SourceContext,
  { host, ports }: { readonly host: string; readonly ports: readonly number[] },
): readonly HttpRoute[] {
  const routes = policyRoutes(trafficPolicies, context).map(({ match, policies }) => ({
    match,
    fields: writtenFields(mergedRouteFields(policies, context)),
  }));
  // One that says that nothing holds is needed before wider ones that say something.
  if (routes.every(({ fields }) => Object.keys(fields).length === 0)) return [];
  return routes
    .flatMap(({ match, fields }) => ports.map((port) => merged({ match: [merged(match, { port })] }, withTargets(fields, host, port))))
    .sort(bySpecificity);
}

/** Without what Istio has no word for: that there is no limit and no fault is said by their absence. */
function writtenFields({ timeout, fault, ...others }: RouteFields): RouteFields {
  return {
    ...(timeout === undefined || timeout === NO_LIMIT ? {} : { timeout }),
    ...(fault === undefined || fault === NO_FAULT ? {} : { fault }),
    ...others,
  };
}

/** The route's targets, or else the host itself; a target without a port gets the port of the request. */
function withTargets(fields: RouteFields, host: string, port: number): RouteFields {
  const targets = fields.route ?? [{ destination: { host } }];
  const route = targets.map((target) => ({ ...target, destination: { port: { number: port }, ...target.destination } }));
  return merged(fields, { route });
}
