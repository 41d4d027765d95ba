import type { AccessPolicy, Destination, DestinationSelector, Mesh, Settings, TrafficPolicy, Workload } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import { type Finding, invalid } from "../findings.ts";

/** Where something is; "" is nowhere in particular, or several places. */
export interface Place {
  readonly clusterName: string;
  readonly namespace: string;
}

/** What one user's resource is limited to; a member that is undefined limits nothing. */
export interface Limit {
  readonly clusterName: string | undefined;
  readonly namespace: string | undefined;
}

/**
 * What users' resources may target. Those of workload clusters what is in their own cluster, unless the Settings say otherwise; those of
 * the management cluster everything. Where the Settings limit policies to their own namespaces, that holds beside it, but not for what is
 * in the plane's namespace of the management cluster, where its operators write.
 */
export interface Reach {
  /** The limit of a policy. */
  limitOf(policy: Pick<Resource, "metadata">): Limit;
  /** The cluster that a VirtualMesh is limited to; "refused" where none of its cluster is wanted, undefined without limit. */
  limitOfVirtualMesh(virtualMesh: Resource): string | "refused" | undefined;
}

/** Nothing out of reach. */
const UNLIMITED: Limit = { clusterName: undefined, namespace: undefined };

/** The reach that the Settings give. */
export function reachIn({ settings, namespace: own }: { readonly settings: Settings | undefined; readonly namespace: string }): Reach {
  const { workloadClusterResources, policies } = settings?.spec ?? {};
  const { targets = "OWN_DESTINATIONS", clusters = {}, virtualMeshes = "REFUSED" } = workloadClusterResources ?? {};
  const isOfNamespace = policies?.namespaces === "OWN";
  const clusterLimit = (clusterName: string) =>
    clusterName === "" || (Object.hasOwn(clusters, clusterName) ? clusters[clusterName] : targets) === "ANY_DESTINATION"
      ? undefined
      : clusterName;
  return {
    limitOf({ metadata: { clusterName = "", namespace = "" } }) {
      const cluster = clusterLimit(clusterName);
      const isLimited = isOfNamespace && !(clusterName === "" && namespace === own);
      return cluster === undefined && !isLimited ? UNLIMITED : { clusterName: cluster, namespace: isLimited ? namespace : undefined };
    },
    limitOfVirtualMesh({ metadata: { clusterName = "" } }) {
      return clusterName !== "" && virtualMeshes !== "ALLOWED" ? "refused" : clusterLimit(clusterName);
    },
  };
}

/** Whether a place is within a limit. */
export function isWithin({ clusterName, namespace }: Limit, place: Place): boolean {
  return (clusterName === undefined || clusterName === place.clusterName) && (namespace === undefined || namespace === place.namespace);
}

/** Whether there is a limit at all. */
function isLimited({ clusterName, namespace }: Limit): boolean {
  return clusterName !== undefined || namespace !== undefined;
}

/** Where a Destination is; nowhere when it is no Kubernetes Service. */
export function destinationPlace({ spec }: Destination): Place {
  const { clusterName = "", namespace = "" } = spec?.kubeService?.ref ?? {};
  return { clusterName, namespace };
}

/** Where a Workload is. */
export function workloadPlace({ spec }: Workload): Place {
  const { clusterName = "", namespace = "" } = spec?.kubernetes?.controller ?? {};
  return { clusterName, namespace };
}

/** The cluster of a mesh; "" when it is in no one cluster. */
export function meshCluster({ spec }: Mesh): string {
  const { istio, osm, linkerd, consulConnect, awsAppMesh } = spec ?? {};
  const [only = "", ...others] = awsAppMesh?.clusters ?? [];
  return (istio ?? osm ?? linkerd ?? consulConnect)?.installation?.cluster ?? (others.length === 0 ? only : "");
}

/**
 * That a policy asks for more than it may target: one finding, made of its own words alone, so that nothing that exists elsewhere is
 * told to where it lives. It is INVALID there, and in force on what is in reach.
 */
export function reachFindings({ spec }: TrafficPolicy | AccessPolicy, limit: Limit): readonly Finding[] {
  if (!isLimited(limit)) return [];
  const [beyond] = reachingBeyond(spec?.destinationSelector ?? [], limit);
  if (beyond === undefined) return [];
  return [invalid("OutOfReach", `${beyond}, and ${inWords(limit)}: beyond that it is not in force; ${remedyOf(limit)}`)];
}

/**
 * Whether a policy names a Destination beyond its limit. Nobody can tell that from a mistake in the name, so it takes away nothing that an
 * AccessPolicy had closed before.
 */
export function namesBeyond({ spec }: TrafficPolicy | AccessPolicy, limit: Limit): boolean {
  if (!isLimited(limit)) return false;
  const services = (spec?.destinationSelector ?? []).flatMap(({ kubeServiceRefs }) => kubeServiceRefs?.services ?? []);
  return services.some(({ clusterName = "", namespace = "" }) => !isWithin(limit, { clusterName, namespace }));
}

function reachingBeyond(selectors: readonly DestinationSelector[], limit: Limit): readonly string[] {
  return selectors.flatMap(({ kubeServiceMatcher, kubeServiceRefs }, i) => {
    const path = `spec.destinationSelector[${i}]`;
    const { clusters = [], namespaces = [] } = kubeServiceMatcher ?? {};
    // Who names none means what is in reach.
    const isBeyond = (list: readonly string[], own: string | undefined) => own !== undefined && list.some((name) => name !== own);
    const ofMatcher =
      kubeServiceMatcher === undefined
        ? []
        : [
            ...(isBeyond(clusters, limit.clusterName)
              ? [`${path}.kubeServiceMatcher.clusters: selects other clusters' Destinations too`]
              : []),
            ...(isBeyond(namespaces, limit.namespace)
              ? [`${path}.kubeServiceMatcher.namespaces: selects other namespaces' Destinations too`]
              : []),
          ];
    const ofRefs = (kubeServiceRefs?.services ?? []).flatMap(({ clusterName = "", namespace = "" }, j) =>
      // What is left out is a fault of its own.
      clusterName === "" || namespace === "" || isWithin(limit, { clusterName, namespace })
        ? []
        : [`${path}.kubeServiceRefs.services[${j}]: names a Destination beyond`],
    );
    return [...ofMatcher, ...ofRefs];
  });
}

/**
 * That a traffic shift needs a subset of a Destination that its policy may not target: subsets are part of what is written for that
 * Destination. Sending it traffic is a reference, and takes no more than that it can be called.
 */
export function subsetFindings({ spec }: TrafficPolicy, limit: Limit): readonly Finding[] {
  if (!isLimited(limit)) return [];
  return (spec?.policy?.trafficShift?.destinations ?? []).flatMap(({ kubeService }, i) => {
    const { subset = {}, clusterName = "", namespace = "" } = kubeService ?? {};
    if (Object.keys(subset).length === 0 || isWithin(limit, { clusterName, namespace })) return [];
    const path = `spec.policy.trafficShift.destinations[${i}].kubeService.subset`;
    return [
      invalid(
        "OutOfReach",
        `${path}: a subset is written for the Destination that it is of, and ${inWords(limit)}: leave the subset out, or ${writeElsewhere(limit)}`,
      ),
    ];
  });
}

/** That a VirtualMesh lives where none may. */
export function virtualMeshRefused({ metadata: { clusterName = "" } }: Resource): Finding {
  return invalid(
    "VirtualMeshRefused",
    `VirtualMeshes of workload clusters have no effect, and this one lives in ${clusterName}: write it in the management cluster, ` +
      "or set workloadClusterResources.virtualMeshes: ALLOWED in the Settings there",
  );
}

/** That a VirtualMesh names a mesh which is none of its cluster's; whether there is such a mesh is not told. */
export function meshOutOfReach(path: string, clusterName: string): Finding {
  return invalid(
    "OutOfReach",
    `${path}: is no Mesh of ${clusterName}, and ${inWords({ clusterName, namespace: undefined })}: remove it here, or write it in the management cluster`,
  );
}

function inWords({ clusterName, namespace }: Limit): string {
  const limits = [
    ...(clusterName === undefined ? [] : [`what lives in ${clusterName} to that cluster (workloadClusterResources)`]),
    ...(namespace === undefined ? [] : [`policies to their own namespace, ${namespace} (policies.namespaces)`]),
  ];
  return `the Settings limit ${limits.join(" and ")}`;
}

function remedyOf(limit: Limit): string {
  const { clusterName, namespace } = limit;
  const narrow = [
    ...(clusterName === undefined ? [] : [`clusters: [${clusterName}]`]),
    ...(namespace === undefined ? [] : [`namespaces: [${namespace}]`]),
  ];
  return `narrow the destinationSelector to ${narrow.join(" and ")}, or ${writeElsewhere(limit)}`;
}

function writeElsewhere({ namespace }: Limit): string {
  return namespace === undefined ? "write it in the management cluster" : "write it in the plane's namespace of the management cluster";
}
