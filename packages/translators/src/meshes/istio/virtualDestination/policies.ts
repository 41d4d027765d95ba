import type { DestinationRule, Mesh, VirtualService } from "@isthmus/api";
import type { VirtualDestinationInputs } from "../../inputs.ts";
import { connectionFields, type SourceContext } from "../policyFields.ts";
import { matchesFrom } from "../routes/matches.ts";
import { referencesIn, routeContext } from "../routes/routeContext.ts";
import { routesOf } from "../routes/virtualServices.ts";
import { remoteSource } from "../source.ts";

type Inputs = Pick<VirtualDestinationInputs, "trafficPolicies" | "translationContext">;

/** Policies on a VirtualDestination refer to nothing (`policyVerdicts.ts`). */
export const NO_REFERENCES = { destinationOf: () => undefined, virtualDestinationOf: () => undefined };

function contextIn({ translationContext }: Inputs, mesh: Mesh): SourceContext {
  return routeContext(remoteSource(mesh), referencesIn(NO_REFERENCES, translationContext));
}

/** What the VirtualService for the host says in one mesh; undefined when no policy says how its requests are routed there. */
export function routesWithPolicies(
  inputs: Inputs,
  mesh: Mesh,
  { hostname, port }: { readonly hostname: string; readonly port: number },
): NonNullable<VirtualService["spec"]> | undefined {
  if (inputs.trafficPolicies.length === 0) return undefined;
  const http = routesOf(inputs.trafficPolicies, contextIn(inputs, mesh), { host: hostname, ports: [port] });
  return http.length === 0 ? undefined : { hosts: [hostname], http };
}

/** The DestinationRule of the host with what policies say of its connections from one mesh; the first of them by precedence counts. */
export function connectionsWithPolicies(
  inputs: Inputs,
  mesh: Mesh,
  rule: NonNullable<DestinationRule["spec"]>,
): NonNullable<DestinationRule["spec"]> {
  const { cluster = "" } = mesh.spec?.istio?.installation ?? {};
  const here = inputs.trafficPolicies.filter(({ spec }) => matchesFrom(cluster, spec ?? {}) !== undefined);
  if (here.length === 0) return rule;
  const context = contextIn(inputs, mesh);
  const said = here.map((policy) => connectionFields.fieldsOf(policy, context)).reverse();
  return { ...rule, trafficPolicy: Object.assign({}, rule.trafficPolicy, ...said) };
}
