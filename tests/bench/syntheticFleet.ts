import type { AnyResource } from "@isthmus/core";
import { discovered, meshRef, networking, PLANE, planeObject } from "./planeObjects.ts";

const ISTIO = "istio-system";

/**
 * A fleet as discovery leaves it: services spread evenly over clusters, each with a Workload and a TrafficPolicy, an AccessPolicy
 * for every ten of them, a gateway per cluster, and one VirtualMesh that federates everything to everywhere.
 */
export function syntheticFleet(services: number, clusters: number): readonly AnyResource[] {
  const clusterNames = Array.from({ length: clusters }, (_, i) => `c${String(i).padStart(2, "0")}`);
  const refs = Array.from({ length: services }, (_, i) => ({
    name: `s${String(i).padStart(5, "0")}`,
    namespace: `team-${i % 7}`,
    clusterName: clusterNames[i % clusters] ?? "",
  }));
  return [...clusterNames.flatMap(clusterObjects), ...refs.flatMap(serviceObjects), ...accessPolicies(refs), virtualMesh(clusterNames)];
}

interface ServiceRef {
  readonly name: string;
  readonly namespace: string;
  readonly clusterName: string;
}

function clusterObjects(clusterName: string, position: number): readonly AnyResource[] {
  const gateway = { name: "eastwest", namespace: ISTIO, clusterName };
  return [
    planeObject("multicluster.solo.io/v1alpha1", "KubernetesCluster", clusterName, { clusterDomain: "cluster.local" }),
    discovered("Mesh", meshRef(clusterName).name, {
      istio: { installation: { namespace: ISTIO, cluster: clusterName, version: "1.27.0" }, trustDomain: `${clusterName}.test` },
      agentInfo: { agentNamespace: PLANE },
    }),
    discovered("Destination", `eastwest-${ISTIO}-${clusterName}`, {
      mesh: meshRef(clusterName),
      kubeService: {
        ref: gateway,
        serviceType: "LOAD_BALANCER",
        externalAddresses: [{ ip: `192.0.2.${position + 1}` }],
        workloadSelectorLabels: { istio: "ingressgateway" },
        ports: [{ port: 15443, name: "tls", protocol: "TCP", targetPortNumber: 15443 }],
      },
    }),
  ];
}

function serviceObjects(ref: ServiceRef, position: number): readonly AnyResource[] {
  const { name, namespace, clusterName } = ref;
  const labels = { app: name, tier: position % 2 === 0 ? "front" : "back" };
  const pods = ["v1", "v2"].map((version, i) => ({
    ipAddress: `10.${(position >> 8) & 255}.${position & 255}.${i}`,
    labels: { ...labels, version },
  }));
  return [
    discovered("Workload", `${name}-${namespace}-${clusterName}-deployment`, {
      mesh: meshRef(clusterName),
      kubernetes: { controller: ref, podLabels: { ...labels, version: "v1" }, serviceAccountName: name },
    }),
    discovered("Destination", `${name}-${namespace}-${clusterName}`, {
      mesh: meshRef(clusterName),
      kubeService: {
        ref,
        workloadSelectorLabels: { app: name },
        labels,
        ports: [{ port: 8080, name: "http", protocol: "TCP", targetPortNumber: 8080 }],
        subsets: { version: { values: ["v1", "v2"] } },
        endpointSubsets: [{ endpoints: pods, ports: [{ port: 8080, name: "http", protocol: "TCP" }] }],
      },
    }),
    networking("TrafficPolicy", `traffic-${name}`, {
      destinationSelector: [{ kubeServiceRefs: { services: [ref] } }],
      ...POLICIES[position % POLICIES.length],
    }),
  ];
}

// Of every kind of route policy some, with and without matchers.
const POLICIES: readonly object[] = [
  { policy: { requestTimeout: "2s", retries: { attempts: 3, perTryTimeout: "1s" } } },
  { policy: { faultInjection: { fixedDelay: "1s", percentage: 5 } }, httpRequestMatchers: [{ uri: { prefix: "/a" } }, { method: "GET" }] },
  {
    policy: { corsPolicy: { allowOrigins: [{ exact: "https://example.com" }] } },
    sourceSelector: [{ kubeWorkloadMatcher: { labels: { tier: "front" } } }],
  },
  { policy: { requestTimeout: "5s", outlierDetection: { consecutiveErrors: 5 } } },
];

function accessPolicies(refs: readonly ServiceRef[]): readonly AnyResource[] {
  return refs.flatMap((caller, i) => {
    if (i % 10 !== 0) return [];
    const services = refs.slice(i, i + 10);
    const spec = {
      sourceSelector: [{ kubeServiceAccountRefs: { serviceAccounts: [caller] } }],
      destinationSelector: [{ kubeServiceRefs: { services } }],
      allowedMethods: ["GET"],
    };
    return [networking("AccessPolicy", `access-${i}`, spec)];
  });
}

function virtualMesh(clusterNames: readonly string[]): AnyResource {
  return networking("VirtualMesh", "all", {
    meshes: clusterNames.map(meshRef),
    mtlsConfig: { shared: { rootCertificateAuthority: { generated: {} } } },
    federation: { permissive: {} },
    globalAccessPolicy: "ENABLED",
  });
}
