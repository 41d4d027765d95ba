import { type AnyResource, fullKeyOf } from "@isthmus/core";

const CLUSTERS = ["east", "west"];
const PLANE = "gloo-mesh";

function planeObject(group: string, kind: string, name: string, spec: object): AnyResource {
  return {
    apiVersion: `${group}.gloo.solo.io/${kind === "VirtualDestination" ? "v1beta1" : "v1"}`,
    kind,
    metadata: { name, namespace: PLANE },
    spec,
  };
}

/**
 * Two clusters with one service that are joined in every way in which traffic fails over: under the service's own name, and by a
 * VirtualDestination, to a part of whose pods a policy shifts traffic. Names are those of `networkingFleets`, which seldom come together so.
 */
export const joinedFleet: readonly AnyResource[] = [
  ...CLUSTERS.flatMap(clusterObjects),
  planeObject("settings.mesh", "Settings", "settings", { mtls: { istio: { tlsMode: "ISTIO_MUTUAL" } } }),
  planeObject("networking.mesh", "VirtualMesh", "a", {
    meshes: CLUSTERS.map((cluster) => ({ name: `mesh-${cluster}`, namespace: PLANE })),
    mtlsConfig: { shared: {} },
    federation: { selectors: [{}], failover: {} },
  }),
  planeObject("networking.enterprise.mesh", "VirtualDestination", "a", {
    hostname: "cart.example.com",
    port: { number: 80 },
    virtualMesh: { name: "a", namespace: PLANE },
    localized: { destinationSelectors: [{ kubeServiceMatcher: { labels: { app: "cart" } } }] },
  }),
  planeObject("networking.mesh", "TrafficPolicy", "a", {
    destinationSelector: [{ kubeServiceRefs: { services: [{ name: "stock", namespace: "shop", clusterName: "east" }] } }],
    policy: {
      trafficShift: {
        destinations: [{ virtualDestination: { name: "a", namespace: PLANE, subset: { version: "v1" } } }],
      },
    },
  }),
];

function clusterObjects(cluster: string, position: number): readonly AnyResource[] {
  const mesh = { name: `mesh-${cluster}`, namespace: PLANE };
  const service = (name: string) => ({ name, namespace: "shop", clusterName: cluster });
  const ports = [{ port: 80, name: "http-80", protocol: "TCP", targetPortNumber: 80 }];
  const backed = (name: string) => {
    const labels = { app: name };
    const endpoints = ["v1", "v2"].map((version, i) => ({ ipAddress: `10.${position}.0.${i}`, labels: { ...labels, version } }));
    return [
      planeObject("discovery.mesh", "Destination", `${name}-shop-${cluster}`, {
        mesh,
        kubeService: { ref: service(name), workloadSelectorLabels: labels, labels, ports, endpointSubsets: [{ endpoints, ports }] },
      }),
      planeObject("discovery.mesh", "Workload", `${name}-shop-${cluster}-deployment`, {
        mesh,
        kubernetes: { controller: service(name), podLabels: labels, serviceAccountName: name },
      }),
    ];
  };
  return [
    planeObject("discovery.mesh", "Mesh", mesh.name, {
      istio: {
        installation: { namespace: "istio-system", cluster, podLabels: { istio: "pilot" }, region: `region-${cluster}` },
        smartDnsProxyingEnabled: true,
      },
      agentInfo: { agentNamespace: PLANE },
    }),
    planeObject("discovery.mesh", "Destination", `gateway-istio-system-${cluster}`, {
      mesh,
      kubeService: {
        ref: { name: "gateway", namespace: "istio-system", clusterName: cluster },
        workloadSelectorLabels: { istio: "ingressgateway" },
        serviceType: "LOAD_BALANCER",
        externalAddresses: [{ ip: `198.51.100.${position}` }],
        ports: [{ port: 15443, name: "tls", protocol: "TCP", targetPortNumber: 15443 }],
      },
    }),
    ...backed("cart"),
    ...backed("stock"),
  ];
}

/** Objects of which no two have one name; of those the last. */
export function withoutDuplicates(objects: readonly AnyResource[]): readonly AnyResource[] {
  return [...new Map(objects.map((one) => [fullKeyOf(one), one])).values()];
}
