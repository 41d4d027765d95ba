import type { ChartName, ChartValues } from "../harness/helm.ts";

/** A way to install a chart. */
export interface Variant {
  readonly name: string;
  readonly chart: ChartName;
  readonly values: ChartValues;
  /** Values by which it belongs into a namespace. Default: it fits into any. */
  readonly valuesIn?: (namespace: string) => ChartValues;
}

const agent = { cluster: "east", serverAddress: "mgmt.example:9900" };
const external = { deployment: { enabled: false }, address: "redis.example:6379" };

function certificatesAlone(managementNamespace: string): ChartValues {
  const meshCertificates = { namespaces: ["default"], restartPods: true };
  return { mode: "standard", relay: { cluster: "east", managementNamespace }, meshCertificates };
}

/** Each value that changes what is rendered is in at least one of them, and each documented setup is one. */
export const variants: readonly Variant[] = [
  { name: "CRDs", chart: "gloo-mesh-crds", values: {} },
  { name: "agent", chart: "gloo-mesh-agent", values: { relay: agent } },
  {
    name: "agent with several replicas",
    chart: "gloo-mesh-agent",
    values: {
      relay: agent,
      replicas: 2,
      verbose: true,
      serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
      alerts: { enabled: true },
    },
  },
  {
    name: "agent for certificates alone",
    chart: "gloo-mesh-agent",
    values: certificatesAlone("gloo-mesh"),
    valuesIn: certificatesAlone,
  },
  {
    name: "agent with labels of its own, an image by digest and an account that is there",
    chart: "gloo-mesh-agent",
    values: {
      relay: agent,
      commonLabels: { team: "mesh" },
      image: { digest: `sha256:${"1".repeat(64)}` },
      serviceAccount: { create: false, name: "platform-agent" },
      meshCertificates: { namespaces: ["default"] },
    },
  },
  {
    name: "server with labels of its own, images by digest and an account of another name",
    chart: "gloo-mesh-mgmt-server",
    values: {
      commonLabels: { team: "mesh" },
      image: { digest: `sha256:${"2".repeat(64)}` },
      glooUi: { image: { digest: `sha256:${"3".repeat(64)}` } },
      serviceAccount: { name: "platform-server" },
    },
  },
  { name: "agent with an election in one replica", chart: "gloo-mesh-agent", values: { relay: agent, leaderElection: true } },
  {
    name: "agent with legacy names",
    chart: "gloo-mesh-agent",
    values: {
      relay: { ...agent, authority: "enterprise-networking.gloo-mesh" },
      legacyNames: true,
      floatingUserId: true,
    },
  },
  { name: "agent without a Service for proxies", chart: "gloo-mesh-agent", values: { relay: agent, dataPlane: { enabled: false } } },
  {
    name: "agent with a Service for proxies of some namespaces",
    chart: "gloo-mesh-agent",
    values: { relay: agent, dataPlane: { from: [{ namespaceSelector: { matchLabels: { mesh: "yes" } } }] } },
  },
  {
    name: "agent with Wasm filters",
    chart: "gloo-mesh-agent",
    values: {
      relay: agent,
      dataPlane: {
        enabled: true,
        wasm: { enabled: true, pullSecret: "registries", insecureRegistries: ["registry.test:5000"], privateHosts: ["modules.test"] },
      },
    },
  },
  {
    name: "agent without client certificates, token as a variable",
    chart: "gloo-mesh-agent",
    values: {
      relay: { ...agent, disableClientCertificateAuthentication: true },
      extraEnvs: { RELAY_TOKEN: { value: "0123456789abcdef0123456789abcdef" } },
    },
  },
  {
    name: "agent with its token in another Secret",
    chart: "gloo-mesh-agent",
    values: { relay: { ...agent, tokenSecret: { name: "our-token", key: "value" } }, resources: { requests: { cpu: "1" } } },
  },
  {
    name: "agent that may write to some namespaces",
    chart: "gloo-mesh-agent",
    values: {
      relay: agent,
      limits: {
        writeNamespaces: ["default", "kube-public"],
        readNamespaces: ["default"],
        deleteBudget: { percent: 5, objects: 10 },
        removalsPerHour: { percent: 10, objects: 5 },
      },
      adminTokenReviews: false,
      networkPolicy: { from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }] },
    },
  },
  {
    name: "agent that installs the CAs of meshes",
    chart: "gloo-mesh-agent",
    values: { relay: agent, meshCertificates: { namespaces: ["default", "kube-public"], restartPods: true } },
  },
  {
    name: "agent that rolls workloads out",
    chart: "gloo-mesh-agent",
    values: { relay: agent, meshCertificates: { namespaces: ["default"], restartPods: true, restartByRollout: true } },
  },
  {
    name: "agent with everything about its pod",
    chart: "gloo-mesh-agent",
    values: {
      relay: agent,
      image: { registry: "registry.example:5000", repository: "mesh/agent", tag: "1.2.3", pullSecrets: ["pull"] },
      podAnnotations: { a: "b" },
      podLabels: { c: "d" },
      nodeSelector: { "kubernetes.io/os": "linux" },
      tolerations: [{ operator: "Exists" }],
      affinity: { nodeAffinity: {} },
      priorityClassName: "system-cluster-critical",
      serviceAccount: { annotations: { e: "f" } },
      extraEnvs: { LEGACY_NAMES: { value: "false" } },
    },
  },
  { name: "server", chart: "gloo-mesh-mgmt-server", values: {} },
  {
    name: "server with several replicas",
    chart: "gloo-mesh-mgmt-server",
    values: {
      replicas: 3,
      verbose: true,
      redis: { auth: { enabled: true } },
      serviceMonitor: { enabled: true },
      alerts: { enabled: true, labels: { release: "prometheus" } },
      grafanaDashboard: { enabled: true },
    },
  },
  {
    name: "server with an external Redis over TLS, with a password",
    chart: "gloo-mesh-mgmt-server",
    values: {
      replicas: 2,
      redis: { ...external, db: 3, auth: { enabled: true }, certs: { enabled: true, serverName: "redis.internal" } },
    },
  },
  {
    name: "server with a console that only reads an external Redis",
    chart: "gloo-mesh-mgmt-server",
    values: {
      redis: { ...external, auth: { enabled: true }, certs: { enabled: true, serverName: "redis" } },
      glooUi: { ports: { console: 8091, stats: 9094 }, redis: { authSecretName: "redis-reader" }, image: { tag: "0.1.0-fix" } },
      serviceMonitor: { enabled: true },
      verbose: true,
      disallowIntersectingConfig: true,
    },
  },
  {
    name: "server with a console with a login, behind an ingress",
    chart: "gloo-mesh-mgmt-server",
    values: { glooUi: { login: { kind: "kubernetes", publicUrl: "https://console.example.com" } } },
  },
  {
    name: "server with a console with a login, with its own certificate",
    chart: "gloo-mesh-mgmt-server",
    values: {
      redis: { ...external, auth: { enabled: true } },
      glooUi: {
        serviceType: "LoadBalancer",
        login: { kind: "kubernetes", publicUrl: "https://console.example.com/", tlsSecretName: "console-tls" },
      },
    },
  },
  { name: "server with its memory alone", chart: "gloo-mesh-mgmt-server", values: { redis: { deployment: { enabled: false } } } },
  {
    name: "server behind an ingress gateway",
    chart: "gloo-mesh-mgmt-server",
    values: { serviceType: "ClusterIP", ingress: { enabled: true, authority: "mesh.example.com" }, leaderElection: true },
  },
  {
    name: "server with legacy names and Settings",
    chart: "gloo-mesh-mgmt-server",
    values: { legacyNames: true, settings: { relay: { deleteBudget: { percent: 10 } } }, floatingUserId: true },
  },
  {
    name: "server that enforces AccessPolicies with Cilium too",
    chart: "gloo-mesh-mgmt-server",
    values: { glooNetwork: { enabled: true }, settings: { cilium: { allowFrom: [{ namespace: "monitoring", ports: [15020] }] } } },
  },
  {
    name: "server without client certificates, token in another Secret",
    chart: "gloo-mesh-mgmt-server",
    values: { relay: { disableClientCertificateAuthentication: true, tokenSecret: { name: "our-token", key: "value" } } },
  },
  {
    name: "server with its users' own PKI and token",
    chart: "gloo-mesh-mgmt-server",
    values: { relay: { disableCaCertGeneration: true, disableTokenGeneration: true, serverNames: ["mesh.example.com"], reflection: true } },
  },
  {
    name: "server with its users' own PKI, without a signing authority",
    chart: "gloo-mesh-mgmt-server",
    values: { relay: { disableCaCertGeneration: true, disableCa: true } },
  },
  {
    name: "server that manages its own cluster",
    chart: "gloo-mesh-mgmt-server",
    values: { singleCluster: "mgmt", disallowIntersectingConfig: true, resources: { limits: { memory: "6Gi" } } },
  },
  {
    name: "server that may write to some namespaces of its own cluster",
    chart: "gloo-mesh-mgmt-server",
    values: { singleCluster: "mgmt", writeNamespaces: ["default"], adminTokenReviews: false },
  },
  {
    name: "server with everything about its pod",
    chart: "gloo-mesh-mgmt-server",
    values: {
      image: { registry: "registry.example:5000", pullSecrets: ["pull"] },
      service: { annotations: { a: "b" }, loadBalancerSourceRanges: ["10.0.0.0/8"] },
      networkPolicy: { agents: [{ ipBlock: { cidr: "10.0.0.0/8" } }], stats: [{ podSelector: {} }] },
      podAnnotations: { a: "b" },
      podLabels: { c: "d" },
      nodeSelector: { "kubernetes.io/os": "linux" },
      tolerations: [{ operator: "Exists" }],
      affinity: { nodeAffinity: {} },
      priorityClassName: "system-cluster-critical",
      serviceAccount: { annotations: { e: "f" } },
      extraEnvs: { LEADER_ELECTION: { value: "true" } },
      redis: { deployment: { storage: { size: "10Gi", storageClassName: "fast" } } },
    },
  },
];

/** Values that contradict each other or themselves, and what Helm says: a part of its sentence. */
export const contradictions: readonly (Variant & { readonly says: string })[] = [
  ...agentContradictions(),
  {
    name: "an account that is neither made nor named",
    chart: "gloo-mesh-mgmt-server",
    values: { serviceAccount: { create: false } },
    says: "serviceAccount.create: false needs serviceAccount.name, the account that exists already",
  },
  {
    name: "a label for all objects by which the chart selects its pods",
    chart: "gloo-mesh-mgmt-server",
    values: { commonLabels: { app: "mine" } },
    says: "commonLabels.app: this chart sets it: leave it out",
  },
  {
    name: "a setting that does not exist",
    chart: "gloo-mesh-mgmt-server",
    values: { unheardOf: true },
    says: "additional properties 'unheardOf' not allowed",
  },
  {
    name: "a network layer that is on and off",
    chart: "gloo-mesh-mgmt-server",
    values: { glooNetwork: { enabled: true }, settings: { cilium: { accessPolicies: "DISABLED" } } },
    says: "settings.cilium.accessPolicies: DISABLED contradicts glooNetwork.enabled, which is ENABLED: set one of them",
  },
  {
    name: "replicas that share nothing",
    chart: "gloo-mesh-mgmt-server",
    values: { replicas: 2, redis: { deployment: { enabled: false } } },
    says: "replicas: 2 servers share their state through Redis, but there is none: set redis.deployment.enabled or redis.address, or 1 replica",
  },
  {
    name: "a console with a login of which nobody knows the address",
    chart: "gloo-mesh-mgmt-server",
    values: { glooUi: { login: { kind: "kubernetes" } } },
    says: 'glooUi.login.publicUrl: "" is not where browsers see the console',
  },
  {
    name: "a console with a login that is not encrypted",
    chart: "gloo-mesh-mgmt-server",
    values: { glooUi: { login: { kind: "kubernetes", publicUrl: "http://console.example.com" } } },
    says: 'glooUi.login.publicUrl: "http://console.example.com" is not',
  },
  {
    name: "a certificate of a console without a login",
    chart: "gloo-mesh-mgmt-server",
    values: { glooUi: { login: { tlsSecretName: "console-tls" } } },
    says: "glooUi.login: publicUrl and tlsSecretName have no effect without a login",
  },
  {
    name: "a load balancer of a console without a login",
    chart: "gloo-mesh-mgmt-server",
    values: { glooUi: { serviceType: "LoadBalancer" } },
    says: "glooUi.serviceType: LoadBalancer has no effect without a login",
  },
  {
    name: "a console with the reference's login",
    chart: "gloo-mesh-mgmt-server",
    values: { glooUi: { auth: { enabled: true } } },
    says: "use glooUi.login",
  },
  {
    name: "a console without Redis",
    chart: "gloo-mesh-mgmt-server",
    values: { glooUi: { enabled: true }, redis: { deployment: { enabled: false } } },
    says: "glooUi.enabled: the console shows what servers keep in Redis, but there is none: set redis.deployment.enabled or redis.address",
  },
  {
    name: "a user of the Redis of the chart, which has none",
    chart: "gloo-mesh-mgmt-server",
    values: { glooUi: { redis: { authSecretName: "redis-reader" } }, redis: { auth: { enabled: true } } },
    says: "glooUi.redis.authSecretName is for an external Redis with users",
  },
  {
    name: "two Redis",
    chart: "gloo-mesh-mgmt-server",
    values: { redis: { address: "redis.example:6379" } },
    says: "redis.address: redis.example:6379 is an external Redis, but redis.deployment.enabled is true: set it to false",
  },
  {
    name: "TLS to a Redis without it",
    chart: "gloo-mesh-mgmt-server",
    values: { redis: { certs: { enabled: true } } },
    says: "redis.certs.enabled: the Redis of this chart does not serve TLS: use an external Redis",
  },
  {
    name: "a load balancer beside the ingress gateway",
    chart: "gloo-mesh-mgmt-server",
    values: { ingress: { enabled: true } },
    says: "serviceType: LoadBalancer would make the server reachable beside its ingress gateway: set ClusterIP",
  },
  {
    name: "an authority without an ingress gateway",
    chart: "gloo-mesh-mgmt-server",
    values: { ingress: { authority: "mesh.example.com" } },
    says: "ingress.authority has no effect without ingress.enabled: enable it, or use relay.serverNames",
  },
  {
    name: "generated certificates without an authority",
    chart: "gloo-mesh-mgmt-server",
    values: { relay: { disableCa: true } },
    says: "set relay.disableCaCertGeneration too, and provide relay-server-tls-secret",
  },
  {
    name: "no authority, and nothing to sign",
    chart: "gloo-mesh-mgmt-server",
    values: { relay: { disableCa: true, disableCaCertGeneration: true, disableClientCertificateAuthentication: true } },
    says: "set one of relay.disableCa and relay.disableClientCertificateAuthentication",
  },
  {
    name: "a token that is given and awaited",
    chart: "gloo-mesh-mgmt-server",
    values: { relay: { disableTokenGeneration: true, tokenSecret: { name: "our-token" } } },
    says: "relay.disableTokenGeneration: the token is given by relay.tokenSecret.name",
  },
  {
    name: "two tokens of a server",
    chart: "gloo-mesh-mgmt-server",
    values: { relay: { tokenSecret: { name: "our-token" } }, extraEnvs: { RELAY_TOKEN: { value: "x" } } },
    says: "relay.tokenSecret.name and extraEnvs.RELAY_TOKEN both give the token: set one of them",
  },
  {
    name: "a variable that the chart of the server sets",
    chart: "gloo-mesh-mgmt-server",
    values: { extraEnvs: { REDIS_PASSWORD: { value: "x" } } },
    says: "extraEnvs.REDIS_PASSWORD: this chart sets it",
  },
  {
    name: "a memory limit in another unit",
    chart: "gloo-mesh-mgmt-server",
    values: { resources: { limits: { memory: "3G" } } },
    says: "resources.limits.memory: 3G is not a whole number of Mi or Gi, from which other sizes follow: write it as 512Mi or 2Gi",
  },
];

function agentContradictions(): readonly (Variant & { readonly says: string })[] {
  const chart = "gloo-mesh-agent";
  return [
    { name: "no name of the cluster", chart, values: { relay: { serverAddress: "mgmt.example:9900" } }, says: "at '/relay/cluster'" },
    { name: "a name that no cluster has", chart, values: { relay: { ...agent, cluster: "East" } }, says: "at '/relay/cluster': 'East'" },
    { name: "no port", chart, values: { relay: { ...agent, serverAddress: "mgmt.example" } }, says: "at '/relay/serverAddress'" },
    {
      name: "two tokens of an agent",
      chart,
      values: { relay: { ...agent, tokenSecret: { name: "our-token" } }, extraEnvs: { RELAY_TOKEN: { value: "x" } } },
      says: "relay.tokenSecret.name and extraEnvs.RELAY_TOKEN both give the token: set one of them",
    },
    {
      name: "a variable that the chart of the agent sets",
      chart,
      values: { relay: agent, extraEnvs: { NODE_OPTIONS: { value: "x" } } },
      says: "extraEnvs.NODE_OPTIONS: this chart sets it",
    },
    {
      name: "those who may connect to a Service that is not made",
      chart,
      values: { relay: agent, dataPlane: { enabled: false, from: [{ podSelector: {} }] } },
      says: "dataPlane.from has no effect without dataPlane.enabled: enable it, or use networkPolicy.from for the port stats",
    },
    {
      name: "Wasm filters that no proxy can ask for",
      chart,
      values: { relay: agent, dataPlane: { enabled: false, wasm: { enabled: true } } },
      says: "dataPlane.wasm.enabled has no effect without dataPlane.enabled, as proxies could not connect: enable both",
    },
    {
      name: "a pull secret for modules that nobody fetches",
      chart,
      values: { relay: agent, dataPlane: { enabled: true, wasm: { pullSecret: "registries" } } },
      says: "dataPlane.wasm.pullSecret, dataPlane.wasm.insecureRegistries and dataPlane.wasm.privateHosts have no effect without dataPlane.wasm.enabled: enable it, or remove them",
    },
    {
      name: "all namespaces, and one",
      chart,
      values: { relay: agent, limits: { readNamespaces: ["*", "default"] } },
      says: 'limits.readNamespaces: "*" is all namespaces: name either "*" or single namespaces',
    },
    {
      name: "a memory limit without a unit",
      chart,
      values: { relay: agent, resources: { limits: { memory: 512 } } },
      says: "resources.limits.memory: 512 is not a whole number of Mi or Gi, from which the heap follows: write it as 512Mi or 2Gi",
    },
  ];
}
