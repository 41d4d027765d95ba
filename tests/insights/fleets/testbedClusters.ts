import type { AnyResource } from "@isthmus/core";

interface TestbedPod {
  readonly deployment: string;
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly replicas?: number;
}

interface TestbedService {
  readonly name: string;
  readonly namespace: string;
  readonly selector: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly ports: readonly { readonly name: string; readonly port: number; readonly targetPort: number }[];
  readonly isLoadBalancer?: true;
}

interface TestbedCluster {
  readonly trustDomain: string;
  readonly region: string;
  readonly zone: string;
  readonly gateway?: Partial<TestbedPod>;
  readonly pods: readonly TestbedPod[];
  readonly services: readonly TestbedService[];
}

const ISTIO = "istio-system";
const VERSION = "1.31.0";

/** What the testbed applies to each cluster of a topology, by cluster: before its pods run. */
export function testbedClusters(topology: string): ReadonlyMap<string, readonly AnyResource[]> {
  const { clusters } = JSON.parse(topology) as { readonly clusters: Readonly<Record<string, TestbedCluster>> };
  return new Map(Object.entries(clusters).map(([name, cluster]) => [name, objectsOf(name, cluster)]));
}

function objectsOf(name: string, { trustDomain, region, zone, gateway, pods, services }: TestbedCluster): readonly AnyResource[] {
  const labels = { app: "istio-ingressgateway", istio: "ingressgateway" };
  const router: TestbedPod = {
    ...{ deployment: "istio-ingressgateway", namespace: ISTIO, serviceAccount: "istio-ingressgateway-service-account", labels },
    ...gateway,
  };
  const istiod: TestbedPod = {
    ...{ deployment: "istiod", namespace: ISTIO, serviceAccount: "istiod-service-account", labels: { app: "istiod", istio: "pilot" } },
  };
  const proxy = { name: "istio-proxy", image: `docker.io/istio/proxyv2:${VERSION}` };
  const app = ({ deployment }: TestbedPod) => ({ name: "app", image: `testbed/${deployment}:1` });
  const namespaces = [...new Set([ISTIO, "gloo-mesh", ...pods.map(({ namespace }) => namespace)])];
  const mesh = { trustDomain, rootNamespace: ISTIO, defaultConfig: { proxyMetadata: { ISTIO_META_DNS_CAPTURE: "true" } } };
  return [
    ...namespaces.map((namespace) => object("v1", "Namespace", { name: namespace })),
    object("v1", "Node", {
      name: `${name}-node-0`,
      labels: { "topology.kubernetes.io/region": region, "topology.kubernetes.io/zone": zone },
    }),
    object("v1", "ConfigMap", { name: "istio", namespace: ISTIO }, { data: { mesh: JSON.stringify(mesh) } }),
    ...[...services, ...systemServices(labels, istiod.labels)].map(serviceOf),
    deploymentOf(istiod, [{ name: "discovery", image: `docker.io/istio/pilot:${VERSION}` }]),
    deploymentOf(router, [proxy]),
    ...pods.map((pod) => deploymentOf(pod, [app(pod), proxy])),
  ];
}

function systemServices(gateway: TestbedService["selector"], istiod: TestbedService["selector"]): readonly TestbedService[] {
  const port = (name: string, number: number, targetPort = number) => ({ name, port: number, targetPort });
  return [
    {
      ...{ name: "istio-ingressgateway", namespace: ISTIO, selector: gateway, labels: gateway, isLoadBalancer: true },
      ports: [port("http2", 80, 8080), port("https", 443, 8443), port("tls", 15443)],
    },
    {
      ...{ name: "istiod", namespace: ISTIO, selector: istiod, labels: istiod },
      ports: [port("grpc-xds", 15010), port("https-dns", 15012), port("https-webhook", 443, 15017), port("http-monitoring", 15014)],
    },
  ];
}

function serviceOf({ name, namespace, selector, labels = selector, ports, isLoadBalancer }: TestbedService): AnyResource {
  const type = isLoadBalancer === true ? { type: "LoadBalancer" } : {};
  return object("v1", "Service", { name, namespace, labels }, { spec: { selector, ports, ...type } });
}

function deploymentOf(
  { deployment, namespace, labels, serviceAccount, replicas = 1 }: TestbedPod,
  containers: readonly object[],
): AnyResource {
  // What its injector would have added.
  const annotations = containers.length > 1 ? { "sidecar.istio.io/status": '{"containers":["istio-proxy"],"revision":"default"}' } : {};
  const template = { metadata: { labels, annotations }, spec: { serviceAccountName: serviceAccount, containers } };
  const spec = { replicas, selector: { matchLabels: labels }, template };
  return object("apps/v1", "Deployment", { name: deployment, namespace, labels }, { spec });
}

function object(apiVersion: string, kind: string, metadata: AnyResource["metadata"], others: object = {}): AnyResource {
  return { apiVersion, kind, metadata, ...others };
}
