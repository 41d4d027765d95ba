import { AccessPolicy, Destination, KubernetesCluster, Mesh, TrafficPolicy, VirtualDestination, VirtualMesh, Workload } from "@isthmus/api";
import type { AnyResource, Kind } from "@isthmus/core";

/** When the objects are looked at. */
export const NOW = Date.parse("2026-11-20T12:00:00Z");
const CREATED = "2026-11-18T09:30:00Z";
const NAMESPACE = "gloo-mesh";

/** An object of the management plane's namespace. */
export function managed(kind: Kind, name: string, content: object = {}, namespace = NAMESPACE): AnyResource {
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { name, namespace, creationTimestamp: CREATED, generation: 1 },
    ...content,
  };
}

function discovered(kind: Kind, name: string, cluster: string, content: object): AnyResource {
  const object = managed(kind, name, content);
  return { ...object, metadata: { ...object.metadata, labels: { "cluster.discovery.mesh.gloo.solo.io": cluster } } };
}

interface MeshFixture {
  readonly version?: string;
  /** Name of the VirtualMesh that it belongs to. */
  readonly virtualMesh?: string;
  readonly istio?: object;
  /** For traffic from other clusters, where it belongs to a VirtualMesh. */
  readonly gateways?: readonly object[];
}

export function mesh(
  cluster: string,
  {
    version = "1.24.1",
    virtualMesh = "",
    istio = {},
    gateways = [{ destinationRef: { name: `gateway-bookinfo-${cluster}`, namespace: NAMESPACE }, externalAddresses: ["198.51.100.1"] }],
  }: MeshFixture = {},
): AnyResource {
  const installation = { namespace: "istio-system", cluster, version, podLabels: { app: "istiod" } };
  return discovered(Mesh, `istiod-istio-system-${cluster}`, cluster, {
    spec: { istio: { installation, trustDomain: `${cluster}.example`, ...istio } },
    ...(virtualMesh === ""
      ? {}
      : { status: { appliedVirtualMesh: { ref: { name: virtualMesh, namespace: NAMESPACE } }, appliedEastWestIngressGateways: gateways } }),
  });
}

export function workload(name: string, cluster: string): AnyResource {
  const controller = { name, namespace: "bookinfo", clusterName: cluster };
  const app = name.split("-")[0] ?? name;
  return discovered(Workload, `${name}-bookinfo-${cluster}-deployment`, cluster, {
    spec: {
      kubernetes: { controller, podLabels: { version: "v1", app }, serviceAccountName: `bookinfo-${app}` },
      mesh: { name: `istiod-istio-system-${cluster}`, namespace: NAMESPACE },
    },
  });
}

interface DestinationFixture {
  readonly ports?: readonly object[];
  readonly isFederated?: boolean;
  readonly pods?: number;
  /** Names of those in force. */
  readonly accessPolicies?: readonly string[];
  readonly workloadSelectorLabels?: Readonly<Record<string, string>>;
}

function federationOf(federatedHostname: string): object {
  const federatedToMeshes = [{ name: "istiod-istio-system-west", namespace: NAMESPACE }];
  return { federatedHostname, federatedToMeshes, virtualMeshRef: { name: "bookinfo", namespace: NAMESPACE } };
}

export function destination(
  name: string,
  cluster: string,
  { ports = [{ port: 9080, name: "http" }], isFederated = false, pods = 2, accessPolicies = [], ...kubeService }: DestinationFixture = {},
): AnyResource {
  const endpoints = Array.from({ length: pods }, (_, i) => ({ ipAddress: `10.0.0.${i + 1}` }));
  return discovered(Destination, `${name}-bookinfo-${cluster}`, cluster, {
    spec: {
      kubeService: {
        ref: { name, namespace: "bookinfo", clusterName: cluster },
        ports,
        endpointSubsets: pods === 0 ? [] : [{ endpoints, ports: [{ port: 9080 }] }],
        ...kubeService,
      },
      mesh: { name: `istiod-istio-system-${cluster}`, namespace: NAMESPACE },
    },
    status: {
      localFqdn: `${name}.bookinfo.svc.cluster.local`,
      appliedTrafficPolicies: name === "reviews" ? [{ ref: { name: "slow", namespace: "bookinfo" } }] : [],
      ...(accessPolicies.length === 0
        ? {}
        : { appliedAccessPolicies: accessPolicies.map((policy) => ({ ref: { name: policy, namespace: "bookinfo" } })) }),
      ...(isFederated ? { appliedFederation: federationOf(`${name}.bookinfo.svc.${cluster}.global`) } : {}),
    },
  });
}

/** A Deployment of the management plane. */
export function deployment(
  name: string,
  { image = "registry.example/gloo-mesh/server:0.1.0", replicas = 1, availableReplicas = 1 } = {},
): AnyResource {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image }] } };
  const metadata = { name, namespace: NAMESPACE, creationTimestamp: CREATED };
  const spec = { replicas, selector: { matchLabels: labels }, template };
  return { apiVersion: "apps/v1", kind: "Deployment", metadata, spec, status: { availableReplicas } };
}

/** A status as the server writes it. */
export function approval(state: "ACCEPTED" | "INVALID" | "FAILED", rest: object = {}): object {
  return { status: { observedGeneration: 1, state, ...rest } };
}

export function trafficPolicy(name: string, status: object = approval("ACCEPTED", { targetCount: 2, acceptedCount: 2 })): AnyResource {
  const policy = { requestTimeout: "2s" };
  const services = [{ name: "reviews", namespace: "bookinfo", clusterName: "east" }];
  const spec = {
    sourceSelector: [{ kubeWorkloadMatcher: { namespaces: ["bookinfo"], labels: { app: "productpage" } } }],
    destinationSelector: [{ kubeServiceRefs: { services } }],
    httpRequestMatchers: [{ uri: { prefix: "/reviews" }, method: "GET", headers: [{ name: "x-user", value: "j.*", regex: true }] }],
    policy,
  };
  return managed(TrafficPolicy, name, { spec, ...status }, "bookinfo");
}

export function accessPolicy(
  name: string,
  spec: object = {},
  status: object = approval("ACCEPTED", { targetCount: 1, acceptedCount: 1 }),
): AnyResource {
  const serviceAccounts = [{ name: "bookinfo-productpage", namespace: "bookinfo", clusterName: "east" }];
  const allowing = {
    sourceSelector: [{ kubeServiceAccountRefs: { serviceAccounts } }],
    destinationSelector: [{ kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "reviews" } } }],
    allowedPaths: ["/reviews*"],
    allowedMethods: ["GET"],
    allowedPorts: [9080],
  };
  return managed(AccessPolicy, name, { spec: { ...allowing, ...spec }, ...status }, "bookinfo");
}

export function virtualMesh(
  name: string,
  clusters: readonly string[],
  spec: object = {},
  status: object = approval("ACCEPTED"),
): AnyResource {
  const meshes = clusters.map((cluster) => ({ name: `istiod-istio-system-${cluster}`, namespace: NAMESPACE }));
  return managed(VirtualMesh, name, { spec: { meshes, ...spec }, ...status });
}

/** A host for the service reviews in both clusters. */
export function virtualDestination(
  name: string,
  status: object = approval("ACCEPTED", { targetCount: 2, destinationCount: 2 }),
): AnyResource {
  const spec = {
    hostname: `${name}.mesh.global`,
    port: { number: 9080, protocol: "HTTP", targetName: "http" },
    virtualMesh: { name: "bookinfo", namespace: NAMESPACE },
    localized: { destinationSelectors: [{ kubeServiceMatcher: { labels: { app: name } } }], outlierDetection: {} },
  };
  return managed(VirtualDestination, name, { spec, ...status }, "bookinfo");
}

export function condition(type: string, status: string, message: string, reason = "Reason"): object {
  return { type, status, reason, message, lastTransitionTime: "2026-11-20T11:50:00Z" };
}

/** A cluster in mode observe, in which others have written already. */
export function observedCluster(name: string): AnyResource {
  const examples = [
    `VirtualService bookinfo/reviews in ${name}: exists, managed by helm, and differs: spec.http[0].timeout; it would not be changed: delete or rename it, or add our owner label`,
    `DestinationRule bookinfo/reviews in ${name}: would be changed: spec.trafficPolicy.outlierDetection`,
    `VirtualService bookinfo/ratings in ${name}: would be created`,
  ];
  const managedObjects = [{ kind: "ServiceEntry", namespace: "*", name: "*" }];
  return cluster(name, "CONNECTED", {
    spec: { mode: "observe", managedObjects },
    mode: "observe",
    comparison: { mode: "observe", same: 40, wouldCreate: 2, wouldChange: 1, wouldDelete: 0, conflicts: 1, examples },
  });
}

export function cluster(
  name: string,
  state = "CONNECTED",
  {
    conditions = [],
    version = "0.1.0",
    isSynced = true,
    spec = {},
    ...status
  }: {
    conditions?: readonly object[];
    version?: string;
    agent?: object;
    isSynced?: boolean;
    spec?: object;
    mode?: string;
    comparison?: object;
  } = {},
): AnyResource {
  const standard = [
    condition("Connected", state in AWAY ? "False" : "True", AWAY[state] ?? `agent ${version} is connected`),
    condition("Synced", isSynced ? "True" : "Unknown", isSynced ? "the agent has completed its full sync" : NOT_SYNCED, "Synced"),
  ];
  const agent = { version, connected: !(state in AWAY), certificateNotAfter: "2026-11-21T06:00:00.000Z" };
  return managed(KubernetesCluster, name, {
    spec: { clusterDomain: "cluster.local", ...spec },
    status: {
      state,
      clusterUid: `uid-of-${name}`,
      namespace: NAMESPACE,
      agent,
      servedVersions: { "networking.istio.io": ["v1", "v1beta1"], apps: ["v1"] },
      conditions: [...standard, ...conditions],
      ...status,
    },
  });
}

const NOT_SYNCED = "the agent has not completed its full sync since this server started";
const AWAY: Readonly<Record<string, string>> = {
  OFFLINE: "the agent of this cluster is not connected: check the logs of gloo-mesh-agent in the cluster",
  REVOKED: "certificates issued before 2026-11-20T11:00:00Z are revoked (annotation isthmus.mesh/revoked-before)",
  UNREACHABLE: "Secret gloo-mesh/east: the API server does not answer",
};
