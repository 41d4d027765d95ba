import { type HttpRoute, VirtualService } from "@isthmus/api";
import { type DestinationInputs, nothing, type TargetTranslation } from "../../inputs.ts";
import { outputOf } from "../outputMetadata.ts";
import { hostnameFrom } from "./hostnames.ts";
import { matchRequests } from "./matches.ts";
import { mergedRouteFields, policyGroups } from "./policyGroups.ts";
import { referencesOf, routeContext } from "./routeContext.ts";
import type { RouteFields } from "./routes/routePolicy.ts";
import { objectNameFor, type Source } from "./source.ts";
import { bySpecificity } from "./specificity.ts";
import { userConflict } from "./userObjects.ts";

/**
 * The VirtualService that routes requests from one source to a Destination. There is none when no policy says how, or
 * when a user's own object does and must not be met.
 */
export function virtualServiceFor(inputs: DestinationInputs, source: Source): TargetTranslation {
  const { destination, surroundings } = inputs;
  const service = destination.spec?.kubeService?.ref;
  if (service === undefined || inputs.trafficPolicies.length === 0) return nothing;
  const host = hostnameFrom(source.clusterName, { service, destination }, surroundings.clusterDomains);
  const http = routesOf(inputs, source, host);
  if (http.length === 0) return nothing;
  if (surroundings.disallowIntersectingConfig && userConflict(inputs, { kind: "VirtualService", source }) !== undefined) return nothing;
  const output = outputOf(
    {
      ...objectNameFor(destination, source),
      owner: surroundings.namespace,
      annotationsOf: destination,
      ...(source.remoteMesh === undefined
        ? { parents: [destination] }
        : { parents: inputs.virtualMesh === undefined ? [] : [inputs.virtualMesh], federates: service }),
    },
    { apiVersion: VirtualService.apiVersion, kind: VirtualService.kind, spec: { hosts: [host], http } },
  );
  return { outputs: [output], reports: [] };
}

/** For each match of each group of policies and each port of the Service one route, the more specific first. */
function routesOf(inputs: DestinationInputs, source: Source, host: string): readonly HttpRoute[] {
  const context = routeContext(source, referencesOf(inputs));
  const ports = inputs.destination.spec?.kubeService?.ports ?? [];
  const routes: HttpRoute[] = [];
  for (const { matches, policies } of policyGroups(inputs.trafficPolicies, source.clusterName)) {
    const fields = mergedRouteFields(policies, context);
    if (Object.keys(fields).length === 0) continue;
    for (const { port = 0 } of ports) {
      const route = withTargets(fields, host, port);
      routes.push(...matchRequests(matches).map((match) => ({ match: [{ ...match, port }], ...route })));
    }
  }
  return routes.sort(bySpecificity);
}

/** The route's targets, or else the host itself; a target without a port gets the port of the request. */
function withTargets(fields: RouteFields, host: string, port: number): RouteFields {
  const targets = fields.route ?? [{ destination: { host } }];
  const route = targets.map((target) => ({ ...target, destination: { port: { number: port }, ...target.destination } }));
  return { ...fields, route };
}
