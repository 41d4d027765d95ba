import { GATEWAY_API_ROUTES, Gateway, ReferenceGrant } from "@isthmus/api";
import { groupOf, kindKeyOf, type Resource } from "@isthmus/core";
import { localHostname } from "../../../policy/hosts/hostnames.ts";
import type { DestinationInputs } from "../../inputs.ts";

/**
 * Whether a gateway of its mesh can lead to a Destination with the identity of somebody else: as it is federated, as a VirtualDestination takes it, or by
 * objects of users. What a gateway sends on as itself needs no word here: its pods are let in as any caller of their namespace and account.
 */
export function isReachedThroughGateways({ destination, gatewayRoutes, translationContext }: DestinationInputs): boolean {
  if (destination.status?.appliedFederation !== undefined) return true;
  const { ref } = destination.spec?.kubeService ?? {};
  if (ref === undefined) return gatewayRoutes.some(({ kind }) => kind !== Gateway.kind && kind !== ReferenceGrant.kind);
  const host = localHostname(ref, translationContext.clusterDomains);
  const grants = gatewayRoutes.filter(isReferenceGrant);
  return gatewayRoutes.some((route) => {
    if (isReferenceGrant(route)) return false;
    if (route.kind === Gateway.kind) return passes(route as Gateway, host);
    if (!GATEWAY_API_KEYS.has(kindKeyOf(route)) || route.metadata.namespace === ref.namespace) return true;
    return grants.some((grant) => permits(grant, route, ref.name));
  });
}

const GATEWAY_API_KEYS: ReadonlySet<string> = new Set(GATEWAY_API_ROUTES.map(kindKeyOf));

function isReferenceGrant(route: Resource): route is ReferenceGrant {
  return route.kind === ReferenceGrant.kind;
}

/** Whether a route of another namespace may name a Service beside the grant. Source: gateway-api.sigs.k8s.io/api-types/referencegrant. */
function permits({ spec = {} }: ReferenceGrant, route: Resource, service: string): boolean {
  const { from = [], to = [] } = spec;
  return (
    from.some(
      ({ group, kind, namespace }) => group === groupOf(route.apiVersion) && kind === route.kind && namespace === route.metadata.namespace,
    ) && to.some(({ group = "", kind, name = "" }) => group === "" && kind === "Service" && (name === "" || name === service))
  );
}

/** Whether a Gateway passes connections for a host to it, unopened. Source: istio.io/docs/reference/config/networking/gateway, Server.hosts. */
function passes({ spec }: Gateway, host: string): boolean {
  const servers = (spec?.servers ?? []).filter(({ tls }) => tls?.mode === "AUTO_PASSTHROUGH");
  return servers.some(({ hosts = [] }) =>
    hosts.some((given) => {
      const pattern = given.slice(given.indexOf("/") + 1);
      return pattern === "*" || pattern === host || (pattern.startsWith("*.") && host.endsWith(pattern.slice(1)));
    }),
  );
}
