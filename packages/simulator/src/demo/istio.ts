export interface IstioOptions {
  readonly clusterName: string;
  /** Such as `us-east-1`; the cluster has one node in each of its zones. */
  readonly region: string;
  readonly zones: readonly string[];
  /** Istio's version. */
  readonly version: string;
  /** Whether control planes and proxies take over a change of roots while they run. Default: no, as in Istio. */
  readonly isMultiRoot?: boolean;
}

const NAMESPACE = "istio-system";
/** Where traffic from other clusters comes in, distinguished by its TLS server name. Source: istio.io/latest/docs/setup/install/multicluster. */
const CROSS_NETWORK_PORT = 15443;

/** A cluster's nodes, its Istio control plane, and the gateway through which other clusters reach it, as a YAML stream. */
export function istioOf({ clusterName, region, zones, version, isMultiRoot = false }: IstioOptions): string {
  const nodes = zones.map((zone) => nodeOf({ name: `${clusterName}-${zone}`, region, zone }));
  return [
    ...nodes,
    namespaceOf(clusterName),
    meshConfigOf(clusterName, isMultiRoot),
    istiod({ clusterName, version, isMultiRoot }),
    ingressGateway(version),
  ].join("---");
}

function nodeOf({ name, region, zone }: { readonly name: string; readonly region: string; readonly zone: string }): string {
  return `
apiVersion: v1
kind: Node
metadata:
  name: ${name}
  labels:
    kubernetes.io/hostname: ${name}
    topology.kubernetes.io/region: ${region}
    topology.kubernetes.io/zone: ${zone}
`;
}

function namespaceOf(clusterName: string): string {
  return `
apiVersion: v1
kind: Namespace
metadata:
  name: ${NAMESPACE}
  labels: {topology.istio.io/network: ${clusterName}-network}
`;
}

/** Each with a trust domain of its own, so that AccessPolicies can name callers by cluster. */
function meshConfigOf(clusterName: string, isMultiRoot: boolean): string {
  return `
apiVersion: v1
kind: ConfigMap
metadata:
  name: istio
  namespace: ${NAMESPACE}
  labels: {istio.io/rev: default}
data:
  mesh: |
    accessLogFile: /dev/stdout
    trustDomain: ${clusterName}.example
    rootNamespace: ${NAMESPACE}
    defaultConfig:
      discoveryAddress: istiod.${NAMESPACE}.svc:15012
      proxyMetadata:
        ISTIO_META_DNS_CAPTURE: "true"
        ISTIO_META_DNS_AUTO_ALLOCATE: "true"${isMultiRoot ? '\n        PROXY_CONFIG_XDS_AGENT: "true"' : ""}
`;
}

function istiod({ clusterName, version, isMultiRoot }: Required<Pick<IstioOptions, "clusterName" | "version" | "isMultiRoot">>): string {
  return `
apiVersion: v1
kind: ServiceAccount
metadata:
  name: istiod
  namespace: ${NAMESPACE}
---
apiVersion: v1
kind: Service
metadata:
  name: istiod
  namespace: ${NAMESPACE}
  labels: {app: istiod, istio: pilot}
spec:
  selector: {app: istiod, istio: pilot}
  ports:
    - {name: grpc-xds, port: 15010}
    - {name: https-dns, port: 15012}
    - {name: https-webhook, port: 443, targetPort: 15017}
    - {name: http-monitoring, port: 15014}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: istiod
  namespace: ${NAMESPACE}
  labels: {app: istiod, istio: pilot, istio.io/rev: default}
spec:
  selector:
    matchLabels: {app: istiod, istio: pilot}
  template:
    metadata:
      labels: {app: istiod, istio: pilot, sidecar.istio.io/inject: "false"}
    spec:
      serviceAccountName: istiod
      containers:
        - name: discovery
          image: docker.io/istio/pilot:${version}
          args: [discovery, --domain, cluster.local]
          env:
            - {name: PILOT_SKIP_VALIDATE_TRUST_DOMAIN, value: "true"}
            - {name: CLUSTER_ID, value: ${clusterName}}${isMultiRoot ? '\n            - {name: ISTIO_MULTIROOT_MESH, value: "true"}' : ""}
          ports:
            - {containerPort: 8080, protocol: TCP}
            - {containerPort: 15010, protocol: TCP}
            - {containerPort: 15017, protocol: TCP}
`;
}

function ingressGateway(version: string): string {
  return `
apiVersion: v1
kind: ServiceAccount
metadata:
  name: istio-ingressgateway
  namespace: ${NAMESPACE}
---
apiVersion: v1
kind: Service
metadata:
  name: istio-ingressgateway
  namespace: ${NAMESPACE}
  labels: {app: istio-ingressgateway, istio: ingressgateway}
spec:
  type: LoadBalancer
  selector: {app: istio-ingressgateway, istio: ingressgateway}
  ports:
    - {name: status-port, port: 15021}
    - {name: http2, port: 80, targetPort: 8080}
    - {name: https, port: 443, targetPort: 8443}
    - {name: tls, port: ${CROSS_NETWORK_PORT}, targetPort: ${CROSS_NETWORK_PORT}}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: istio-ingressgateway
  namespace: ${NAMESPACE}
  labels: {app: istio-ingressgateway, istio: ingressgateway}
spec:
  selector:
    matchLabels: {app: istio-ingressgateway, istio: ingressgateway}
  template:
    metadata:
      labels: {app: istio-ingressgateway, istio: ingressgateway, sidecar.istio.io/inject: "false"}
    spec:
      serviceAccountName: istio-ingressgateway
      containers:
        - name: istio-proxy
          image: docker.io/istio/proxyv2:${version}
          args: [proxy, router]
          ports:
            - {containerPort: 15021, protocol: TCP}
            - {containerPort: 8080, protocol: TCP}
            - {containerPort: 8443, protocol: TCP}
            - {containerPort: ${CROSS_NETWORK_PORT}, protocol: TCP}
`;
}
