import { Gateway } from "@isthmus/api";
import { localHostname } from "../../../policy/hostnames.ts";
import type { DestinationInputs } from "../../inputs.ts";

/**
 * Whether a gateway of its mesh can lead to a Destination with the identity of somebody else: as it is federated, as a VirtualDestination takes it, or by
 * objects of users. What a gateway sends on as itself needs no word here: its pods are let in as any caller of their namespace and account.
 */
export function isReachedThroughGateways({ destination, gatewayRoutes, translationContext }: DestinationInputs): boolean {
  if (destination.status?.appliedFederation !== undefined) return true;
  const { ref } = destination.spec?.kubeService ?? {};
  const host = ref && localHostname(ref, translationContext.clusterDomains);
  return gatewayRoutes.some((route) => route.kind !== Gateway.kind || (host !== undefined && passes(route as Gateway, host)));
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
