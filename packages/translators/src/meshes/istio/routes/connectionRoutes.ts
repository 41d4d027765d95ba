import type { ConnectionRoute, Destination, HttpMatchRequest, KubeServicePort, TrafficPolicy, TrafficPolicyRules } from "@isthmus/api";
import { keyOf } from "@isthmus/core";
import { type Finding, warningFinding } from "../../../findings.ts";
import { portsOf, serviceOf } from "../../../policy/hosts/serviceRefs.ts";
import { selectsDestination } from "../../../policy/selectors.ts";
import { isSilent } from "../../../policy/silentRules.ts";
import type { ReferenceLookup } from "../../meshTranslator.ts";
import { features } from "../features/index.ts";
import type { SourceContext } from "../policyFields.ts";
import { type PortFamily, portFamily } from "../portProtocol.ts";
import { mergedRouteFields, policyRoutes } from "./policyRoutes.ts";

/** Whether what passes a port may be requests, which have routes of HTTP. */
export function isOfRequests(family: PortFamily | undefined): boolean {
  return family === "HTTP" || family === "detected";
}

/**
 * Routes of connections over TCP: to where policies shift traffic, by weight. Of a match the source alone counts; requests are not seen there.
 * TLS has none: its routes go by server names, and as soon as there is one Istio drops connections that ask for any other name, such as the
 * short one of a Service. Source: istio.io/istio, buildSidecarOutboundTLSFilterChainOpts.
 */
export function connectionRoutesOf(
  policies: readonly TrafficPolicy[],
  context: SourceContext,
  { host, destination }: { readonly host: string; readonly destination: Destination },
): readonly ConnectionRoute[] {
  const ports = portsOf(destination).filter((port) => portFamily(port) === "TCP");
  if (ports.length === 0) return [];
  const shifts = policyRoutes(policies, context).flatMap(({ match, policies: own }) => {
    const { route } = mergedRouteFields(own, context);
    // The first that sets it counts.
    const policy = own.find(({ spec }) => (spec?.policy?.trafficShift?.destinations ?? []).length > 0);
    return route === undefined || policy === undefined || !isOfSource(match) ? [] : [{ match, route, policy }];
  });
  return ports.flatMap((port) =>
    shifts
      .filter(({ policy }) => isShiftedAt(port, { destination, policy, lookup: context }))
      .map(({ match, route }) => ({
        match: [{ ...match, port: port.port ?? 0 }],
        route: route.map((target) => ({
          destination: { port: { number: port.port ?? 0 }, host, ...target.destination },
          ...(target.weight === undefined ? {} : { weight: target.weight }),
        })),
      })),
  );
}

function isOfSource({ sourceLabels: _, sourceNamespace: __, ...ofRequest }: HttpMatchRequest): boolean {
  return Object.keys(ofRequest).length === 0;
}

interface Shift {
  readonly destination: Destination;
  readonly policy: TrafficPolicy;
  readonly lookup: ReferenceLookup;
}

/**
 * Whether a shift says where connections to a port of a Service go: to ports for connections, and, as it names one port for all of them, to
 * the same port of the Service itself, or from its only one. Anything else would lead clients to servers of another protocol.
 */
function isShiftedAt(port: KubeServicePort, { destination, policy, lookup }: Shift): boolean {
  if (portFamily(port) !== "TCP") return false;
  const { clusterName: policyCluster = "" } = policy.metadata;
  const ownKey = keyOf({ name: "", namespace: "", clusterName: "", ...destination.spec?.kubeService?.ref });
  let namesOwn = false;
  for (const { kubeService, virtualDestination } of policy.spec?.policy?.trafficShift?.destinations ?? []) {
    if (kubeService === undefined) {
      const found = lookup.virtualDestinationOf({ ...serviceOf(virtualDestination ?? {}), clusterName: policyCluster });
      if ((found?.spec?.port?.protocol ?? "HTTP").toUpperCase() !== "TCP") return false;
      continue;
    }
    const service = serviceOf(kubeService);
    const isOwn = keyOf(service) === ownKey;
    const ports = portsOf(isOwn ? destination : lookup.destinationOf(service));
    const target = kubeService.port ? ports.find((its) => its.port === kubeService.port) : ports[0];
    if (target === undefined || portFamily(target) !== "TCP" || (isOwn && target.port !== port.port)) return false;
    namesOwn ||= isOwn;
  }
  return namesOwn || portsOf(destination).filter((its) => portFamily(its) === "TCP").length === 1;
}

/**
 * What a policy asks for that no port of a Destination carries out, or, of a shift, some ports do not. All of them warnings; none on a policy
 * for whole namespaces, which is not meant for the ports of every Service there.
 */
export function findingsOfPorts(destination: Destination, policy: TrafficPolicy, lookup: ReferenceLookup): readonly Finding[] {
  const ports = portsOf(destination);
  const without = ports.filter((port) => !isOfRequests(portFamily(port)));
  const { policy: rules = {}, httpRequestMatchers = [], destinationSelector = [] } = policy.spec ?? {};
  const particular = destinationSelector.filter(
    ({ kubeServiceRefs, kubeServiceMatcher }) => kubeServiceRefs !== undefined || Object.keys(kubeServiceMatcher?.labels ?? {}).length > 0,
  );
  if (without.length === 0 || particular.length === 0 || !selectsDestination(particular, destination)) return [];
  const { name = "", namespace = "", clusterName = "" } = destination.spec?.kubeService?.ref ?? {};
  return asked(rules).flatMap((field): readonly Finding[] => {
    const isShift = field === "trafficShift" && httpRequestMatchers.length === 0;
    const isCarriedOut = (port: KubeServicePort) =>
      isShift ? isShiftedAt(port, { destination, policy, lookup }) : without.length < ports.length;
    const missed = without.filter((port) => !isCarriedOut(port));
    if (missed.length === 0) return [];
    const listed = missed.map((port) => `${port.port} (${portFamily(port) ?? port.protocol})`).join(", ");
    const why = isShift ? "only HTTP is shifted, and TCP to ports that destinations name" : "it has no requests of HTTP";
    const message = `spec.policy.${field}: no effect on port ${listed} of Service ${namespace}/${name} in ${clusterName}, because ${why}: remove it, or name the port http-… if it is HTTP`;
    return [warningFinding("NoEffect", message)];
  });
}

/** Fields about requests, as they are asked for. */
function asked(rules: TrafficPolicyRules): readonly (keyof TrafficPolicyRules)[] {
  return features.flatMap(({ field, writes }) => (writes === "connection" || isSilent(field, rules[field]) ? [] : [field]));
}
