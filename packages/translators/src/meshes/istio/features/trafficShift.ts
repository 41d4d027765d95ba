import type { HttpRoute, WeightedDestination } from "@isthmus/api";
import { displayName } from "@isthmus/core";
import { type Finding, invalidFinding } from "../../../findings.ts";
import {
  portFindings,
  portsOf,
  serviceNotFound,
  serviceOf,
  subsetLabelFindings,
  unfederatedServiceFindings,
} from "../../../policy/hosts/serviceRefs.ts";
import { labelFindings } from "../../../policy/limits.ts";
import type { PolicyReference } from "../../meshTranslator.ts";
import { subsetNameOf } from "../subsets.ts";
import { virtualHostFindings } from "../virtualDestination/virtualHostFindings.ts";
import { defineReferringFeature, type RouteContext } from "./feature.ts";
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
      ...labelFindings(`${PATH}[${i}].virtualDestination.subset`, entry.virtualDestination?.subset),
    ]),
    ...(entries.length > 1 && entries.every(({ weight = 0 }) => weight === 0)
      ? [invalidFinding("WeightsMissing", `${PATH}: all weights are 0: set weights that add up to 100`)]
      : []),
  ],
});

function referencesOf({ kubeService, virtualDestination }: WeightedDestination): readonly PolicyReference[] {
  return [
    ...(kubeService === undefined ? [] : [{ service: serviceOf(kubeService), isPart: isPart(kubeService) }]),
    ...(virtualDestination === undefined
      ? []
      : [{ virtualDestination: serviceOf(virtualDestination), isPart: isPart(virtualDestination) }]),
  ];
}

function isPart({ subset = {} }: { readonly subset?: Readonly<Record<string, string>> }): boolean {
  return Object.keys(subset).length > 0;
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
    ...(weight ? { weight } : {}),
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
      return [invalidFinding("TrafficShiftTargetUnknown", serviceNotFound(`${path}.kubeService`, service))];
    }
    return [
      ...portFindings(`${path}.kubeService.port`, { service, port: kubeService.port, ports: portsOf(destination) }),
      ...unfederatedServiceFindings(`${path}.kubeService`, service, context),
      ...subsetLabelFindings(`${path}.kubeService.subset`, service, { subset: kubeService.subset, destination }),
    ];
  }
  if (virtualDestination !== undefined) {
    const ref = serviceOf(virtualDestination);
    const found = context.virtualDestinationOf(ref);
    if (found !== undefined) {
      const isForeign = isPart(virtualDestination) && context.policyCluster !== "";
      const subset = isForeign ? [foreignSubset(`${path}.virtualDestination.subset`)] : [];
      return [...virtualHostFindings(`${path}.virtualDestination`, found), ...subset];
    }
    return [
      invalidFinding(
        "TrafficShiftTargetUnknown",
        `${path}.virtualDestination: VirtualDestination ${displayName(ref)} not found: check name and namespace`,
      ),
    ];
  }
  const unsupported = staticDestination !== undefined ? "staticDestination" : clusterHeader !== undefined ? "clusterHeader" : undefined;
  if (unsupported !== undefined) {
    return [
      invalidFinding("TrafficShiftTargetUnsupported", `${path}.${unsupported}: is not supported: use kubeService or virtualDestination`),
    ];
  }
  return [invalidFinding("TrafficShiftTargetMissing", `${path}: has no destination: set kubeService or virtualDestination`)];
}

/** Subsets of a host are written into all of its meshes, which is not one cluster's to ask for. */
function foreignSubset(path: string): Finding {
  return invalidFinding(
    "TrafficShiftTargetUnsupported",
    `${path}: is not supported in a TrafficPolicy of a workload cluster, because subsets of a VirtualDestination are written into all of its meshes: create the policy in the management cluster, or use kubeService`,
  );
}
