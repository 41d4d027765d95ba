import {
  type AccessPolicy,
  type Destination,
  type DestinationSelector,
  type Mesh,
  meshClusters,
  proxyKinds,
  type Settings,
  type TrafficPolicy,
  type Workload,
  type WorkloadSelector,
} from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../findings.ts";

/** Where something is; "" is nowhere in particular, or several places. */
export interface NamespaceLocation {
  readonly clusterName: string;
  readonly namespace: string;
}

/** What one user's resource is limited to; a member that is undefined limits nothing. */
export interface PolicyLimit {
  readonly clusterName: string | undefined;
  readonly namespace: string | undefined;
}

/**
 * What users' resources may target. Those of workload clusters what is in their own cluster, of those that reach into proxies what is in their own namespace, unless the Settings say otherwise; those of
 * the management cluster everything. Where the Settings limit policies to their own namespaces, that holds beside it, but not for what is
 * in the plane's namespace of the management cluster, where its operators write.
 */
export interface PolicyScope {
  /** The limit of a policy. */
  limitOf(policy: Pick<Resource, "metadata"> & { readonly kind?: string }): PolicyLimit;
  /** The cluster that a VirtualMesh is limited to; "refused" where none of its cluster is desired, undefined without limit. */
  limitOfVirtualMesh(virtualMesh: Resource): string | "refused" | undefined;
}

const IN_PROXIES: ReadonlySet<string> = new Set(proxyKinds().map(({ kind }) => kind));

/** Nothing out of reach. */
const UNLIMITED: PolicyLimit = { clusterName: undefined, namespace: undefined };

/** The reach that the Settings give. */
export function policyScopeFrom({
  settings,
  namespace: own,
}: {
  readonly settings: Settings | undefined;
  readonly namespace: string;
}): PolicyScope {
  const { workloadClusterResources, policies } = settings?.spec ?? {};
  const {
    targets = "OWN_DESTINATIONS",
    clusters = {},
    workloads = "OWN_NAMESPACE",
    virtualMeshes = "REFUSED",
  } = workloadClusterResources ?? {};
  const isOfNamespace = policies?.namespaces === "OWN";
  const clusterLimit = (clusterName: string) =>
    clusterName === "" || (Object.hasOwn(clusters, clusterName) ? clusters[clusterName] : targets) === "ANY_DESTINATION"
      ? undefined
      : clusterName;
  return {
    limitOf({ kind = "", metadata: { clusterName = "", namespace = "" } }) {
      const cluster = clusterLimit(clusterName);
      // What they do to a proxy comes before all that others say of it, access included.
      const isInProxies = cluster !== undefined && workloads === "OWN_NAMESPACE" && IN_PROXIES.has(kind);
      const isLimited = isInProxies || (isOfNamespace && !(clusterName === "" && namespace === own));
      return cluster === undefined && !isLimited ? UNLIMITED : { clusterName: cluster, namespace: isLimited ? namespace : undefined };
    },
    limitOfVirtualMesh({ metadata: { clusterName = "" } }) {
      return clusterName !== "" && virtualMeshes !== "ALLOWED" ? "refused" : clusterLimit(clusterName);
    },
  };
}

/** Whether a place is within a limit. */
export function isWithinLimit({ clusterName, namespace }: PolicyLimit, place: NamespaceLocation): boolean {
  return (clusterName === undefined || clusterName === place.clusterName) && (namespace === undefined || namespace === place.namespace);
}

/** Whether there is a limit at all. */
function isLimited({ clusterName, namespace }: PolicyLimit): boolean {
  return clusterName !== undefined || namespace !== undefined;
}

/** Where a Destination is; nowhere when it is no Kubernetes Service. */
export function destinationLocation({ spec }: Destination): NamespaceLocation {
  const { clusterName = "", namespace = "" } = spec?.kubeService?.ref ?? {};
  return { clusterName, namespace };
}

/** Where a Workload is. */
export function workloadLocation({ spec }: Workload): NamespaceLocation {
  const { clusterName = "", namespace = "" } = spec?.kubernetes?.controller ?? {};
  return { clusterName, namespace };
}

/** The cluster of a mesh; "" when it is in no one cluster. */
export function meshCluster(mesh: Mesh): string {
  const [only = "", ...others] = meshClusters(mesh);
  return others.length === 0 ? only : "";
}

/**
 * That a policy asks for more than it may target: one finding, made of its own words alone, so that nothing that exists elsewhere is
 * reported to where it lives. It is INVALID there, and in force on what is in reach.
 */
export function policyScopeFindings({ spec }: TrafficPolicy | AccessPolicy, limit: PolicyLimit): readonly Finding[] {
  if (!isLimited(limit)) return [];
  const [beyond] = reachingBeyond(spec?.destinationSelector ?? [], limit);
  if (beyond === undefined) return [];
  return [invalidFinding("OutOfReach", `${beyond}, but ${inWords(limit)}; outside of that the policy is not in force: ${remedyOf(limit)}`)];
}

/**
 * Whether a policy names a Destination beyond its limit. Nobody can tell that from a mistake in the name, so it takes away nothing that an
 * AccessPolicy had closed before.
 */
export function namesDestinationOutOfScope({ spec }: TrafficPolicy | AccessPolicy, limit: PolicyLimit): boolean {
  if (!isLimited(limit)) return false;
  return (spec?.destinationSelector ?? []).some(({ kubeServiceRefs, virtualDestinationRefs }) => {
    const services = kubeServiceRefs?.services ?? [];
    const virtual = virtualDestinationRefs?.virtualDestinations ?? [];
    return (
      services.some(({ clusterName = "", namespace = "" }) => !isWithinLimit(limit, { clusterName, namespace })) ||
      virtual.some(({ namespace = "" }) => !isWithinLimit(limit, { clusterName: "", namespace }))
    );
  });
}

function reachingBeyond(selectors: readonly DestinationSelector[], limit: PolicyLimit): readonly string[] {
  return selectors.flatMap(({ kubeServiceMatcher, kubeServiceRefs, virtualDestinationMatcher, virtualDestinationRefs }, i) => {
    const path = `spec.destinationSelector[${i}]`;
    const { clusters = [], namespaces = [] } = kubeServiceMatcher ?? {};
    // Who names none means what is in reach.
    const isBeyond = (list: readonly string[], own: string | undefined) => own !== undefined && list.some((name) => name !== own);
    const ofMatcher =
      kubeServiceMatcher === undefined
        ? []
        : [
            ...(isBeyond(clusters, limit.clusterName)
              ? [`${path}.kubeServiceMatcher.clusters: selects Destinations of other clusters`]
              : []),
            ...(isBeyond(namespaces, limit.namespace)
              ? [`${path}.kubeServiceMatcher.namespaces: selects Destinations of other namespaces`]
              : []),
          ];
    const ofRefs = (kubeServiceRefs?.services ?? []).flatMap(({ clusterName = "", namespace = "" }, j) =>
      // What is left out is a fault of its own.
      clusterName === "" || namespace === "" || isWithinLimit(limit, { clusterName, namespace })
        ? []
        : [`${path}.kubeServiceRefs.services[${j}]: names a Destination outside the allowed scope`],
    );
    // They are of the management cluster, and of their namespace.
    const ofVirtual = [
      ...(virtualDestinationMatcher !== undefined &&
      (limit.clusterName !== undefined || isBeyond(virtualDestinationMatcher.namespaces ?? [], limit.namespace))
        ? [`${path}.virtualDestinationMatcher: selects VirtualDestinations outside the allowed scope`]
        : []),
      ...(virtualDestinationRefs?.virtualDestinations ?? []).flatMap(({ namespace = "" }, j) =>
        namespace === "" || isWithinLimit(limit, { clusterName: "", namespace })
          ? []
          : [`${path}.virtualDestinationRefs.virtualDestinations[${j}]: names a VirtualDestination outside the allowed scope`],
      ),
    ];
    return [...ofMatcher, ...ofRefs, ...ofVirtual];
  });
}

/**
 * That a traffic shift needs a subset of a Destination that its policy may not target: subsets are part of what is written for that
 * Destination. Sending it traffic is a reference, and takes no more than that it can be called.
 */
export function subsetFindings({ spec }: TrafficPolicy, limit: PolicyLimit): readonly Finding[] {
  if (!isLimited(limit)) return [];
  return (spec?.policy?.trafficShift?.destinations ?? []).flatMap(({ kubeService }, i) => {
    const { subset = {}, clusterName = "", namespace = "" } = kubeService ?? {};
    if (Object.keys(subset).length === 0 || isWithinLimit(limit, { clusterName, namespace })) return [];
    const path = `spec.policy.trafficShift.destinations[${i}].kubeService.subset`;
    return [
      invalidFinding(
        "OutOfReach",
        `${path}: a subset changes the configuration of the Destination that it belongs to, but ${inWords(limit)}: remove the subset, or ${writeElsewhere(limit)}`,
      ),
    ];
  });
}

/** That what is for workloads names namespaces beyond its limit: it is for none there. */
export function workloadScopeFindings(
  path: string,
  selectors: readonly WorkloadSelector[],
  { namespace }: PolicyLimit,
): readonly Finding[] {
  const beyond = selectors.findIndex(
    ({ kubeWorkloadMatcher }) => kubeWorkloadMatcher?.namespaces?.some((one) => one !== namespace) === true,
  );
  if (namespace === undefined || beyond < 0) return [];
  const message = `${path}[${beyond}].kubeWorkloadMatcher.namespaces: names other namespaces than ${namespace}, to which the Settings limit it (workloadClusterResources.workloads, policies.namespaces), so it is for no workload there: create one in each namespace, or in the management plane's namespace of the management cluster`;
  return [warningFinding("OutOfReach", message)];
}

/** That a VirtualMesh lives where none may. */
export function virtualMeshOutOfScope({ metadata: { clusterName = "" } }: Resource): Finding {
  return invalidFinding(
    "VirtualMeshRefused",
    `a VirtualMesh in a workload cluster, here ${clusterName}, is not allowed: create it in the management cluster, ` +
      "or set workloadClusterResources.virtualMeshes: ALLOWED in the Settings",
  );
}

/** That a VirtualMesh names a mesh which is none of its cluster's; whether there is such a mesh is not reported. */
export function meshOutOfScope(path: string, clusterName: string): Finding {
  return invalidFinding(
    "OutOfReach",
    `${path}: is not a Mesh of ${clusterName}, but ${inWords({ clusterName, namespace: undefined })}: remove it, or create the VirtualMesh in the management cluster`,
  );
}

function inWords({ clusterName, namespace }: PolicyLimit): string {
  const limits = [
    ...(clusterName === undefined ? [] : [`resources of ${clusterName} to that cluster (workloadClusterResources)`]),
    ...(namespace === undefined ? [] : [`policies to their own namespace, ${namespace} (policies.namespaces)`]),
  ];
  return `the Settings limit ${limits.join(" and ")}`;
}

function remedyOf(limit: PolicyLimit): string {
  const { clusterName, namespace } = limit;
  const narrow = [
    ...(clusterName === undefined ? [] : [`clusters: [${clusterName}]`]),
    ...(namespace === undefined ? [] : [`namespaces: [${namespace}]`]),
  ];
  return `narrow the destinationSelector to ${narrow.join(" and ")}, or ${writeElsewhere(limit)}`;
}

function writeElsewhere({ namespace }: PolicyLimit): string {
  return namespace === undefined
    ? "create it in the management cluster"
    : "create it in the management plane's namespace of the management cluster";
}
