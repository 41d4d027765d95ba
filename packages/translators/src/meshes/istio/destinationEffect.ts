import type { TrafficPolicy } from "@isthmus/api";
import { equalJson, refOf } from "@isthmus/core";
import { hostnameFrom } from "../../policy/hosts/hostnames.ts";
import { portsOf } from "../../policy/hosts/serviceRefs.ts";
import type { DestinationEffect, EffectValue, RouteEffect, SourceEffect } from "../effect.ts";
import type { DestinationInputs } from "../inputs.ts";
import type { Writes } from "./features/feature.ts";
import { defaultConnectionPolicy } from "./features/mtls.ts";
import { connectionFields, policyPathOf, routeFields, type SourceContext } from "./policyFields.ts";
import { portFamily } from "./portProtocol.ts";
import { connectionRoutesOf, isOfRequests } from "./routes/connectionRoutes.ts";
import { matchesFrom } from "./routes/matches.ts";
import { policyRoutes } from "./routes/policyRoutes.ts";
import { referencesOf, routeContext } from "./routes/routeContext.ts";
import { type Source, sourcesOf } from "./source.ts";

/** What `virtualServiceSpec` and `destinationRuleSpec` say of a Destination, each value with the policy that it is from. */
export function istioDestinationEffect(inputs: DestinationInputs): DestinationEffect | undefined {
  return inputs.destination.spec?.kubeService?.ref === undefined
    ? undefined
    : { sources: sourcesOf(inputs).map((source) => effectFrom(source, inputs)) };
}

function effectFrom(source: Source, inputs: DestinationInputs): SourceEffect {
  const { destination, translationContext } = inputs;
  const { clusterName = "", name = "", namespace = "" } = destination.spec?.kubeService?.ref ?? {};
  const context = routeContext(source, referencesOf(inputs));
  return {
    cluster: source.clusterName,
    host: hostnameFrom(source.clusterName, { service: { name, namespace, clusterName }, destination }, translationContext.clusterDomains),
    routes: routesFrom(inputs, context),
    connection: connectionFrom(source, inputs, context),
  };
}

function routesFrom({ trafficPolicies, destination }: DestinationInputs, context: SourceContext): readonly RouteEffect[] {
  const routes = policyRoutes(trafficPolicies, context);
  // Connections have routes too, which carry out a shift alone.
  const isOfConnections = !portsOf(destination).some((port) => isOfRequests(portFamily(port))) && portsOf(destination).length > 0;
  const shifted = isOfConnections ? connectionRoutesOf(trafficPolicies, context, { host: "", destination }) : [];
  const shifts = new Set(shifted.flatMap(({ match = [] }) => match.map(({ port: _, ...match }) => JSON.stringify(match))));
  return routes.flatMap(({ match, policies }): readonly RouteEffect[] => {
    if (isOfConnections && !shifts.has(JSON.stringify(match))) return [];
    const values = new Map<string, EffectValue>();
    // Where two set one field, the first counts.
    for (const policy of policies) {
      for (const [field, value] of Object.entries(routeFields.fieldsOf(policy, context)))
        if (!values.has(field) && (!isOfConnections || field === "route"))
          values.set(field, setBy(policy, { writes: "route", field, value }));
    }
    return [{ match, values: [...values.values()] }];
  });
}

function connectionFrom(
  source: Source,
  { trafficPolicies, translationContext }: DestinationInputs,
  context: SourceContext,
): readonly EffectValue[] {
  const values = new Map<string, EffectValue>();
  for (const [field, value] of Object.entries(defaultConnectionPolicy(translationContext.settings, source)))
    values.set(field, { field, value, path: undefined, policy: undefined });
  for (const policy of trafficPolicies) {
    if (matchesFrom(source.clusterName, policy.spec ?? {}) === undefined) continue;
    for (const [field, value] of Object.entries(connectionFields.fieldsOf(policy, context))) {
      // What holds anyway is nobody's, and what is equal is that of the first who said it.
      if (!equalJson(values.get(field)?.value, value)) values.set(field, setBy(policy, { writes: "connection", field, value }));
    }
  }
  return [...values.values()];
}

function setBy(
  policy: TrafficPolicy,
  { writes, field, value }: { readonly writes: Writes; readonly field: string; readonly value: unknown },
) {
  return { field, value, path: policyPathOf(writes, field), policy: refOf(policy) };
}
