import { allKinds } from "@isthmus/api";
import { groupOf, nearestName } from "@isthmus/core";

/** Why an object of a kind or version that translation does not read is refused or left out. */
export interface UnsupportedObject {
  /** Whether it is of an API of ours: then somebody expects an effect of it, and it is refused. */
  readonly isOurs: boolean;
  /** What to write instead, where that is known. */
  readonly message: string;
}

/** Says what is to be known of an object that `kindOf` does not know. */
export function unread({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): UnsupportedObject {
  const group = groupOf(apiVersion);
  if (isInternal(group))
    return { isOurs: false, message: "translation does not use this kind, which is created by a management plane, not by users" };
  const isOurs = isOurGroup(group) || (!apiVersion.includes("/") && ourKinds().has(kind));
  if (!isOurs) return { isOurs, message: otherVersion(apiVersion, kind) ?? "translation does not use this kind" };
  const instead = successor(apiVersion, kind) ?? otherVersion(apiVersion, kind) ?? nearMiss(apiVersion, kind);
  return { isOurs, message: instead ?? `${kind} is not a kind of ${group}: supported kinds are ${namesIn(group)}` };
}

/** Groups of the Gloo Mesh APIs, of all generations. Source: the group names of their CRDs, specs/networking §1. */
function isOurGroup(group: string): boolean {
  return group === "multicluster.solo.io" || OUR_SUFFIXES.some((suffix) => group.endsWith(suffix));
}

const OUR_SUFFIXES = [".gloo.solo.io", ".smh.solo.io", ".zephyr.solo.io"];

/** What the published product's own parts write for each other, and a dump of a cluster holds. */
function isInternal(group: string): boolean {
  return group.startsWith("xds.agent.") || group === "internal.gloo.solo.io";
}

/** Kinds of earlier and later generations, with what does the same in this API. */
function successor(apiVersion: string, kind: string): string | undefined {
  const group = groupOf(apiVersion);
  if (/\.(?:smh|zephyr)\.solo\.io$/.test(group)) return `belongs to Service Mesh Hub, before Gloo Mesh 1.0: ${inV1(kind)}`;
  if (group.endsWith(".enterprise.mesh.gloo.solo.io")) return ENTERPRISE[kind];
  if (group.endsWith(".gloo.solo.io") && !group.endsWith(".mesh.gloo.solo.io")) {
    return `belongs to the Gloo Platform API v2, another product generation, which is not supported: ${PLATFORM[kind] ?? inV1(kind)}`;
  }
  return undefined;
}

function inV1(kind: string): string {
  const versions = versionsOf(kind);
  return versions.length === 0
    ? "use TrafficPolicy, AccessPolicy or VirtualMesh of networking.mesh.gloo.solo.io/v1"
    : `use ${kind} of ${versions.join(" or ")}`;
}

const ENTERPRISE: Readonly<Record<string, string>> = {
  VirtualGateway: "is not supported: use Gateway and VirtualService of Istio for ingress traffic",
  VirtualHost: "is not supported: use Gateway and VirtualService of Istio for ingress traffic",
  RouteTable: "is not supported: use TrafficPolicy of networking.mesh.gloo.solo.io/v1, or VirtualService of Istio",
  ServiceDependency: "is not supported: use Sidecar of Istio to limit the dependencies of a workload",
  WasmDeployment: "is not supported: use WasmPlugin of Istio",
  RateLimiterServerConfig: "is not supported: use EnvoyFilter of Istio for rate limits",
  RateLimitServerConfig: "is not supported: use EnvoyFilter of Istio for rate limits",
  RateLimitClientConfig: "is not supported: use EnvoyFilter of Istio for rate limits",
  AccessLogRecord: "is not supported: use Telemetry of Istio for access logs",
};

const TRAFFIC = "use TrafficPolicy of networking.mesh.gloo.solo.io/v1";
const PLATFORM: Readonly<Record<string, string>> = {
  Workspace: "use VirtualMesh of networking.mesh.gloo.solo.io/v1 to group meshes",
  WorkspaceSettings: "use VirtualMesh of networking.mesh.gloo.solo.io/v1 to group and federate meshes",
  RootTrustPolicy: "use spec.mtlsConfig of a VirtualMesh of networking.mesh.gloo.solo.io/v1",
  KubernetesCluster: "use KubernetesCluster of multicluster.solo.io/v1alpha1, which registration creates",
  VirtualGateway: "use Gateway and VirtualService of Istio for ingress traffic",
  RouteTable: TRAFFIC,
  ExternalService: "use ServiceEntry of Istio",
  VirtualDestination: "use VirtualDestination of networking.enterprise.mesh.gloo.solo.io/v1beta1",
  AccessPolicy: "use AccessPolicy of networking.mesh.gloo.solo.io/v1",
  RetryTimeoutPolicy: `${TRAFFIC} (requestTimeout, retries)`,
  FaultInjectionPolicy: `${TRAFFIC} (faultInjection)`,
  OutlierDetectionPolicy: `${TRAFFIC} (outlierDetection)`,
  MirrorPolicy: `${TRAFFIC} (mirror)`,
  CORSPolicy: `${TRAFFIC} (corsPolicy)`,
  CSRFPolicy: `${TRAFFIC} (csrf)`,
  HeaderManipulationPolicy: `${TRAFFIC} (headerManipulation)`,
  ConnectionPolicy: `${TRAFFIC} (connectionPoolSettings)`,
  FailoverPolicy: `${TRAFFIC} (outlierDetection)`,
};

function otherVersion(apiVersion: string, kind: string): string | undefined {
  const versions = versionsOf(kind);
  return versions.length === 0 ? undefined : `the supported version of ${kind} is ${versions.join(" or ")}, not ${apiVersion}`;
}

function versionsOf(kind: string): readonly string[] {
  return allKinds().flatMap((known) => (known.kind === kind ? known.versions : []));
}

function nearMiss(apiVersion: string, kind: string): string | undefined {
  const near = nearestName(kind, ourKinds());
  const [version] = near === undefined ? [] : versionsOf(near);
  return near === undefined ? undefined : `${kind} is not a kind of ${groupOf(apiVersion)}: did you mean ${near} (${version ?? ""})?`;
}

/** Kinds of ours that people write. */
function ourKinds(): ReadonlySet<string> {
  return new Set(allKinds().flatMap(({ kind, versions }) => (isOurGroup(groupOf(versions[0] ?? "")) ? [kind] : [])));
}

function namesIn(group: string): string {
  const names = allKinds().flatMap(({ kind, versions }) => (groupOf(versions[0] ?? "") === group ? [kind] : []));
  return names.length === 0 ? "none" : names.join(", ");
}
