import { kindOf } from "@isthmus/api";
import type { AnyResource, Resource } from "@isthmus/core";
import { meshRef, networking, PLANE, planeObject } from "./planeObjects.ts";

/** Sizes of a fleet. */
export interface FleetSize {
  readonly clusters: number;
  readonly servicesPerCluster: number;
  readonly podsPerService: number;
}

const ISTIO = "istio-system";
const CREATED = "2026-01-01T00:00:00Z";
/** One service in so many has a TrafficPolicy of its own, and so many share an AccessPolicy. */
const SERVICES_PER_POLICY = 10;
const NODES = 20;
/** The schema limits the selectors of a VirtualMesh. */
const CLUSTERS_PER_VIRTUAL_MESH = 100;

/**
 * A fleet as agents and the management cluster report it: in each cluster a control plane, an east-west gateway and services, each
 * with a Deployment, a ReplicaSet, pods with sidecars and a slice. A VirtualMesh for every hundred clusters federates the services of
 * each to the next two of them. Every tenth service has a TrafficPolicy; an AccessPolicy holds for ten services each.
 */
export function* fleetObjects(size: FleetSize): Iterable<Resource> {
  for (const object of managementObjects(size)) yield kindOf(object.apiVersion, object.kind)?.parse(object) ?? object;
  for (let cluster = 0; cluster < size.clusters; cluster++) yield* reportedObjects(clusterName(cluster), cluster, size);
}

/** What the agent of one cluster reports: checked, and of each object what leaves its cluster. */
export function* reportedObjects(cluster: string, position: number, size: FleetSize): Iterable<Resource> {
  for (const object of clusterObjects(cluster, position, size)) {
    const kind = kindOf(object.apiVersion, object.kind);
    const resource = kind?.parse(object) ?? object;
    yield kind?.project?.(resource) ?? resource;
  }
}

export function clusterName(position: number): string {
  return `cluster-${String(position).padStart(3, "0")}`;
}

/** Name and namespace of a service; those of one position have one name in every cluster. */
export function serviceAt(position: number): { readonly name: string; readonly namespace: string } {
  return { name: `service-${String(position).padStart(4, "0")}`, namespace: `team-${position % 10}` };
}

export function trafficPolicyName(cluster: string, service: number): string {
  return `timeout-${serviceAt(service).name}-${cluster}`;
}

export function accessPolicyName(cluster: string, service: number): string {
  return `callers-${serviceAt(service).name}-${cluster}`;
}

/** The VirtualMesh that federates the cluster at `position`. */
export function virtualMeshName(position: number): string {
  return `fleet-${Math.floor(position / CLUSTERS_PER_VIRTUAL_MESH)}`;
}

/** What one cluster holds, of what an agent reads there. */
export function* clusterObjects(cluster: string, position: number, size: FleetSize): Iterable<AnyResource> {
  const node = (i: number) => `${cluster}-node-${i % NODES}`;
  for (let i = 0; i < NODES; i++) {
    const labels = { "topology.kubernetes.io/region": "eu-1", "topology.kubernetes.io/zone": `eu-1${"abc"[i % 3]}` };
    yield { apiVersion: "v1", kind: "Node", metadata: { name: node(i), clusterName: cluster, labels } };
  }
  yield* controlPlane(cluster);
  yield* gateway(cluster, position, node(0));
  for (let i = 0; i < size.servicesPerCluster; i++) {
    const { name, namespace } = serviceAt(i);
    const place = { namespace, clusterName: cluster };
    yield service({ name, ...place }, { app: name }, { type: "ClusterIP" });
    yield* deployment({ name, ...place }, [app(name), SIDECAR]);
    const pods = Array.from({ length: size.podsPerService }, (_, pod) => ({
      name: `${name}-7d9c-${pod}`,
      ip: `10.${i >> 8}.${i & 255}.${pod}`,
      nodeName: node(i + pod),
    }));
    for (const each of pods) yield podOf(name, place, each);
    yield sliceOf(name, place, pods);
  }
}

/** What the management cluster holds. */
export function* managementObjects({ clusters, servicesPerCluster }: FleetSize): Iterable<AnyResource> {
  const names = Array.from({ length: clusters }, (_, i) => clusterName(i));
  for (const name of names)
    yield planeObject("multicluster.solo.io/v1alpha1", "KubernetesCluster", name, { clusterDomain: "cluster.local" });
  for (let first = 0; first < clusters; first += CLUSTERS_PER_VIRTUAL_MESH)
    yield virtualMeshOf(virtualMeshName(first), names.slice(first, first + CLUSTERS_PER_VIRTUAL_MESH));
  for (const cluster of names) {
    for (let i = 0; i < servicesPerCluster; i += SERVICES_PER_POLICY) yield* policies(cluster, i, servicesPerCluster);
  }
}

function virtualMeshOf(name: string, clusters: readonly string[]): AnyResource {
  return networking("VirtualMesh", name, {
    meshes: clusters.map(meshRef),
    mtlsConfig: { shared: { rootCertificateAuthority: { generated: {} } } },
    federation: {
      selectors: clusters.map((cluster, i) => ({
        destinationSelectors: [{ kubeServiceMatcher: { clusters: [cluster] } }],
        meshes: [1, 2].map((step) => meshRef(clusters[(i + step) % clusters.length] ?? "")),
      })),
    },
    globalAccessPolicy: "ENABLED",
  });
}

function* policies(cluster: string, first: number, servicesPerCluster: number): Iterable<AnyResource> {
  const ref = (position: number) => ({ ...serviceAt(position), clusterName: cluster });
  yield networking("TrafficPolicy", trafficPolicyName(cluster, first), {
    destinationSelector: [{ kubeServiceRefs: { services: [ref(first)] } }],
    policy: { requestTimeout: "5s", retries: { attempts: 2, perTryTimeout: "2s" } },
  });
  const selected = Array.from({ length: Math.min(SERVICES_PER_POLICY, servicesPerCluster - first) }, (_, i) => ref(first + i));
  yield networking("AccessPolicy", accessPolicyName(cluster, first), {
    sourceSelector: [{ kubeServiceAccountRefs: { serviceAccounts: [ref((first + SERVICES_PER_POLICY) % servicesPerCluster)] } }],
    destinationSelector: [{ kubeServiceRefs: { services: selected } }],
    allowedMethods: ["GET", "POST"],
  });
}

interface Place {
  readonly namespace: string;
  readonly clusterName: string;
}

type NamedPlace = Place & { readonly name: string };

function* controlPlane(cluster: string): Iterable<AnyResource> {
  const place = { namespace: ISTIO, clusterName: cluster };
  yield* deployment({ name: "istiod", ...place }, [{ name: "discovery", image: "docker.io/istio/pilot:1.27.0" }]);
  yield { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "istio", ...place }, data: { mesh: `trustDomain: ${cluster}.test\n` } };
  yield* deployment({ name: "gloo-mesh-agent", namespace: PLANE, clusterName: cluster }, [app("gloo-mesh-agent")]);
}

function* gateway(cluster: string, position: number, nodeName: string): Iterable<AnyResource> {
  const place = { namespace: ISTIO, clusterName: cluster };
  const selector = { istio: "ingressgateway", app: "eastwest" };
  const tls = { name: "tls", port: 15443, targetPort: 15443, protocol: "TCP" };
  yield {
    ...service({ name: "eastwest", ...place }, selector, { type: "LoadBalancer", ports: [tls] }),
    status: { loadBalancer: { ingress: [{ ip: `203.0.${position >> 8}.${position & 255}` }] } },
  };
  yield* deployment({ name: "eastwest", ...place }, [SIDECAR], selector);
  const pod = { name: "eastwest-7d9c-0", ip: "10.255.0.1", nodeName };
  yield podOf("eastwest", place, pod, selector);
  yield sliceOf("eastwest", place, [pod]);
}

const SIDECAR = { name: "istio-proxy", image: "docker.io/istio/proxyv2:1.27.0" };

function app(name: string) {
  return { name: "app", image: `registry.example.com/${name}:1.0` };
}

function service({ name, ...place }: NamedPlace, selector: object, spec: object): AnyResource {
  const metadata = { name, ...place, labels: { app: name }, uid: uidOf("s", name, place), creationTimestamp: CREATED };
  const ports = [{ name: "http", port: 8080, targetPort: 8080, protocol: "TCP" }];
  return { apiVersion: "v1", kind: "Service", metadata, spec: { selector, ports, ...spec } };
}

function* deployment(
  { name, ...place }: NamedPlace,
  containers: readonly object[],
  labels: object = { app: name, version: "v1" },
): Iterable<AnyResource> {
  const metadata = { name, ...place, labels: { app: name }, uid: uidOf("d", name, place), creationTimestamp: CREATED };
  const template = { metadata: { labels }, spec: { serviceAccountName: name, containers } };
  yield { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { replicas: 1, selector: { matchLabels: labels }, template } };
  const owned = { name: `${name}-7d9c`, ...place, ownerReferences: [ownerOf("Deployment", name)], creationTimestamp: CREATED };
  yield { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: owned };
}

interface PodPlace {
  readonly name: string;
  readonly ip: string;
  readonly nodeName: string;
}

/** A pod of the Deployment `name`. */
function podOf(name: string, place: Place, { name: podName, ip, nodeName }: PodPlace, labels?: object): AnyResource {
  const own = { ...(labels ?? { app: name, version: "v1" }), "pod-template-hash": "7d9c" };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: podName,
      ...place,
      labels: own,
      ownerReferences: [ownerOf("ReplicaSet", `${name}-7d9c`)],
    },
    spec: { serviceAccountName: name, nodeName, containers: [app(name), { ...SIDECAR }] },
    status: { phase: "Running", podIP: ip, conditions: [{ type: "Ready", status: "True" }] },
  };
}

/** The slice of the Service `name` with these pods. */
function sliceOf(name: string, place: Place, pods: readonly PodPlace[]): AnyResource {
  const endpoints = pods.map((pod) => ({
    addresses: [pod.ip],
    conditions: { ready: true },
    nodeName: pod.nodeName,
    zone: "eu-1a",
    targetRef: { kind: "Pod", name: pod.name, namespace: place.namespace },
  }));
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${name}-x`, ...place, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    endpoints,
  };
}

function ownerOf(kind: string, name: string) {
  return { apiVersion: "apps/v1", kind, name, controller: true };
}

function uidOf(kind: string, name: string, { namespace, clusterName: cluster }: Place): string {
  return `${kind}-${name}-${namespace}-${cluster}`;
}
