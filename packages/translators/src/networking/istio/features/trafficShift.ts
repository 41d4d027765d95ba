import type { HttpRoute, WeightedDestination } from "@isthmus/api";
import { keyOf } from "@isthmus/core";
import { type Finding, invalid } from "../../../findings.ts";
import { labelFindings } from "../limits.ts";
import { federationFindings, portFindings, portsOf, serviceOf } from "../serviceRefs.ts";
import { subsetNameOf } from "../subsets.ts";
import { defineReferringFeature, type Reference, type RouteContext } from "./feature.ts";
import { headerFindings, headersOf } from "./headerManipulation.ts";

const FIELD = "spec.policy.trafficShift";
const PATH = `${FIELD}.destinations`;

type RouteDestination = NonNullable<HttpRoute["route"]>[number];

/** Sends traffic to other destinations, by weight. */
export const trafficShift = defineReferringFeature({
  field: "trafficShift",
  writes: "route",
  sets: { route: FIELD },
  refersTo: ({ destinations: entries = [] }) => entries.flatMap(referencesOf),
  fieldsOf: ({ destinations: entries = [] }, context) =>
    entries.length === 0 ? {} : { route: entries.map((entry) => routeDestination(entry, context)) },
  check: ({ destinations: entries = [] }, context) => [
    ...entries.flatMap((entry, i) => [
      ...entryFindings(entry, `${PATH}[${i}]`, context),
      ...headerFindings(`${PATH}[${i}].options.headerManipulation`, entry.options?.headerManipulation, context.allowsHeaderOperators),
      ...labelFindings(`${PATH}[${i}].kubeService.subset`, entry.kubeService?.subset),
    ]),
    ...(entries.length > 1 && entries.every(({ weight = 0 }) => weight === 0)
      ? [invalid("WeightsMissing", `${PATH}: no entry has a weight: give each a share of 100`)]
      : []),
  ],
});

function referencesOf({ kubeService, virtualDestination }: WeightedDestination): readonly Reference[] {
  return [
    ...(kubeService === undefined ? [] : [{ service: serviceOf(kubeService), isPart: Object.keys(kubeService.subset ?? {}).length > 0 }]),
    ...(virtualDestination === undefined ? [] : [{ virtualDestination: serviceOf(virtualDestination) }]),
  ];
}

function routeDestination(entry: WeightedDestination, context: RouteContext): RouteDestination {
  const { weight, options, kubeService, virtualDestination } = entry;
  const subset = subsetNameOf(kubeService?.subset ?? virtualDestination?.subset);
  const port = portOf(entry, context);
  const headers = options?.headerManipulation && headersOf(options.headerManipulation, context.allowsHeaderOperators);
  return {
    destination: {
      host: hostOf(entry, context),
      ...(port === undefined ? {} : { port: { number: port } }),
      ...(subset === "" ? {} : { subset }),
    },
    ...(weight === undefined ? {} : { weight }),
    ...(headers === undefined ? {} : { headers }),
  };
}

function hostOf({ kubeService, virtualDestination }: WeightedDestination, context: RouteContext): string {
  if (kubeService !== undefined) return context.hostnameOf(serviceOf(kubeService));
  return context.virtualDestinationOf(serviceOf(virtualDestination ?? {}))?.spec?.hostname ?? "";
}

/** The port given, else the only one that the target has: the port of the original service may be another number. */
function portOf({ kubeService, virtualDestination }: WeightedDestination, context: RouteContext): number | undefined {
  if (kubeService !== undefined) {
    return kubeService.port || portsOf(context.destinationOf(serviceOf(kubeService)))[0]?.port;
  }
  return context.virtualDestinationOf(serviceOf(virtualDestination ?? {}))?.spec?.port?.number;
}

function entryFindings(entry: WeightedDestination, path: string, context: RouteContext): readonly Finding[] {
  const { kubeService, virtualDestination, staticDestination, clusterHeader } = entry;
  if (kubeService !== undefined) {
    const service = serviceOf(kubeService);
    const destination = context.destinationOf(service);
    if (destination === undefined) {
      return [invalid("TrafficShiftTargetUnknown", `${path}.kubeService: Destination for service ${keyOf(service)} not found`)];
    }
    return [
      ...portFindings(`${path}.kubeService.port`, { service, port: kubeService.port, ports: portsOf(destination) }),
      ...federationFindings(`${path}.kubeService`, service, context),
    ];
  }
  if (virtualDestination !== undefined) {
    const ref = serviceOf(virtualDestination);
    if (context.virtualDestinationOf(ref) !== undefined) return [];
    return [invalid("TrafficShiftTargetUnknown", `${path}.virtualDestination: VirtualDestination ${ref.name}.${ref.namespace} not found`)];
  }
  const unsupported = staticDestination !== undefined ? "staticDestination" : clusterHeader !== undefined ? "clusterHeader" : undefined;
  if (unsupported !== undefined) {
    return [invalid("TrafficShiftTargetUnsupported", `${path}.${unsupported}: is not supported: use kubeService or virtualDestination`)];
  }
  return [invalid("TrafficShiftTargetMissing", `${path}: names no destination: set kubeService or virtualDestination`)];
}
