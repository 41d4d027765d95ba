import { Type } from "@sinclair/typebox";
import { mtlsSchema } from "../networking/trafficPolicySpec.ts";
import { approvalColumns, approvalFields } from "../shared/approval.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { duration } from "../shared/duration.ts";
import { fields, listOf, mapOf, oneOfWords, stringMap, strings, uint32, userFields } from "../shared/schema.ts";

const grpcServerFields = {
  address: Type.String({ description: "Host and port." }),
  insecure: Type.Boolean({ description: "Whether to connect without TLS." }),
  reconnectOnNetworkFailures: Type.Boolean({ description: "Whether to reconnect after network failures." }),
};

const namespaceSelector = userFields(
  {
    matchLabels: stringMap({ description: "Labels that the namespace must have; all must match. Empty: any." }),
    matchExpressions: listOf(
      userFields({
        key: Type.String({ description: "Key of the label. Required." }),
        operator: oneOfWords(["In", "NotIn", "Exists", "DoesNotExist"], { description: "What must hold of the label. Required." }),
        values: strings({ description: "Values of the label. Required for In and NotIn, and for these only." }),
      }),
      { description: "What must hold of the labels of the namespace. Empty: nothing." },
    ),
  },
  { description: "A Kubernetes label selector on namespaces." },
);

const ingressGatewayDetector = userFields({
  gatewayWorkloadLabels: stringMap({
    description: "Labels of gateway pods. Empty: those of the entry `*`, else istio: ingressgateway or istio: eastwestgateway.",
  }),
  gatewayTlsPortName: Type.String({
    description: "Name of the port for traffic from other clusters. Empty: that of the entry `*`, else tls.",
  }),
});

const discovery = userFields(
  {
    istio: userFields({
      ingressGatewayDetectors: mapOf(ingressGatewayDetector, {
        description:
          "How ingress gateways are detected, by cluster name; `*` is for all other clusters. Deprecated: use the gateway selectors of the VirtualMesh. Empty: as with an entry without members.",
      }),
    }),
    selectors: listOf(namespaceSelector, {
      description:
        "Namespaces to discover: at least one entry must match, in addition to the discovery selectors of each mesh. Empty: all.",
      maxItems: 256,
    }),
    cilium: userFields(
      {
        endpoints: oneOfWords(["SUMMARY", "FULL", "NONE"], {
          description:
            "What agents report of the CiliumEndpoints in their clusters. SUMMARY, the default: for each generated CiliumNetworkPolicy, how many it " +
            "selects, and how many of them enforce policies; and the numbers of CiliumIdentities and CiliumNodes. FULL: the endpoints themselves, too, in the " +
            "namespaces to discover. NONE: nothing of these, and agents do not watch them.",
        }),
      },
      { description: "What is read in clusters with Cilium." },
    ),
    publish: oneOfWords(["ALL", "FEDERATED_OR_TARGETED", "NONE"], {
      description:
        "Which discovered objects are written to the management cluster. ALL, the default; FEDERATED_OR_TARGETED: all Meshes, Destinations " +
        "that are federated, targeted by a policy or used as gateways, and the Workloads behind them; NONE.",
    }),
  },
  { description: "Settings of discovery." },
);

const relay = userFields(
  {
    enabled: Type.Boolean({
      description: "Not read: clusters with an agent are managed through it.",
      unsupported: "not read, because every cluster with an agent is managed through it, and every other one by its kubeconfig Secret",
    }),
    server: userFields(grpcServerFields, {
      description: "Not read: agents have the address of their server as a flag.",
      unsupported: "not read, because agents have the address of their server as a flag (--relay-address)",
    }),
    registration: oneOfWords(["OPEN", "KNOWN_CLUSTERS"], {
      description: "OPEN, the default: a valid token is sufficient. KNOWN_CLUSTERS: the KubernetesCluster must already exist.",
    }),
    sharedToken: oneOfWords(["NEW_NAMES", "ANY_NAME"], {
      description:
        "Which cluster names can be registered with only the relay identity token, which all agents know. NEW_NAMES, the default: names that have never been " +
        "registered; other names require the agent's certificate or a join token. ANY_NAME: all names; any holder of the token can take over any cluster's name.",
    }),
    agentCertificateLifetime: duration({
      description: "Lifetime of the agents' certificates, which are renewed after half of it. At least 1m, at most 8760h. Default: 24h.",
    }),
    deleteBudget: userFields(
      {
        percent: uint32({ maximum: 100, description: "Percentage of the objects in a cluster. Default: 20." }),
        objects: uint32({ description: "Number of objects, used if it allows more than the percentage. Default: 50." }),
      },
      {
        description:
          "How many objects may be deleted in a cluster within a minute because discovered objects disappeared. Above it, deletes are put on hold. Agents " +
          "never allow more than their own --delete-budget-percent and --delete-budget-objects, by default 20 and 50.",
      },
    ),
    agentQuota: userFields(
      {
        objects: uint32({ description: "Number of objects. Default: 1000000." }),
        bytes: uint32({
          description:
            "Size of the objects as JSON, in bytes. Default: an eighth of the heap of the server, which is three quarters of its memory limit.",
        }),
      },
      {
        description:
          "How much one agent may report. Objects above the quota are refused one by one, which the KubernetesCluster's conditions show; objects " +
          "accepted before are kept. All agents of a server together may report half of its heap; above that, the largest are refused first.",
      },
    ),
  },
  { description: "Settings of the relay between the management server and agents." },
);

const federation = userFields(
  {
    maxObjectsPerCluster: uint32({
      description:
        "Maximum number of objects that the federation of one VirtualMesh may write into one cluster. Above it, nothing of the VirtualMesh is federated, " +
        "including what was federated before, and the status of the VirtualMesh shows it; its other parts stay in force. Default: no " +
        "limit, with a warning above 2000.",
    }),
  },
  { description: "Limits of federation." },
);

const failover = userFields(
  {
    targets: oneOfWords(["ANY", "GUARDED_ONLY"], {
      description:
        "What a federated service that AccessPolicies select may fail over to. ANY, the default: the services of its name, with a warning in these policies where no AccessPolicy " +
        "selects one of them. GUARDED_ONLY: to those alone that AccessPolicies select.",
    }),
    excludeOffline: userFields(
      {
        after: duration({ description: "For how long the agent of a cluster must have been offline. At least 30s. Default: 300s." }),
      },
      {
        description:
          "Takes the gateways of clusters whose agent is offline out of what others call: the hosts of VirtualDestinations, and what federated services fail " +
          "over to. Puts them back when the agent is connected again. No host loses its last endpoint by this. Default: they are kept, and clients find out which of them answer.",
      },
    ),
  },
  { description: "Failover between clusters." },
);

const RESOURCE_TARGETS = ["ANY_DESTINATION", "OWN_DESTINATIONS"] as const;

const workloadClusterResources = userFields(
  {
    targets: oneOfWords(RESOURCE_TARGETS, {
      description:
        "OWN_DESTINATIONS, the default: they apply only to Destinations and Meshes of their own cluster; a resource that " +
        "names others is INVALID, and a selector without clusters selects only their own. ANY_DESTINATION: the same as resources of the management cluster.",
    }),
    clusters: mapOf(oneOfWords(RESOURCE_TARGETS), {
      description: "The same by cluster name. An entry takes precedence over `targets`. Empty: `targets` holds in all.",
    }),
    workloads: oneOfWords(["OWN_CLUSTER", "OWN_NAMESPACE"], {
      description:
        "What AccessLogRecords and WasmDeployments of a workload cluster are for, while they apply only to their own cluster. OWN_NAMESPACE, the default: the workloads " +
        "of their own namespace. OWN_CLUSTER: those of all its namespaces, so that a user of one namespace has programs run in the proxies of all.",
    }),
    virtualMeshes: oneOfWords(["REFUSED", "ALLOWED"], {
      description:
        "REFUSED, the default: VirtualMeshes in workload clusters are INVALID. ALLOWED: they are used, for the Meshes that `targets` and " +
        "`clusters` allow.",
    }),
  },
  { description: "Restrictions of policies and other resources that users create in workload clusters." },
);

const policies = userFields(
  {
    namespaces: oneOfWords(["ANY", "OWN"], {
      description:
        "ANY, the default: a policy may target Destinations of all namespaces. OWN: only of its own namespace; a policy that names others is INVALID. " +
        "Policies in the management plane's namespace of the management cluster may still target all namespaces.",
    }),
    hostSuffixes: mapOf(strings(), {
      description:
        "With OWN: what the hosts of VirtualDestinations may end in, by their namespace, such as shop: [shop.example.com]; each of two or more parts. " +
        "A namespace without an entry may give hosts that end in its name and `global`, such as cart.shop.global. Empty: that holds for all.",
    }),
    headerOperators: oneOfWords(["REFUSED", "ALLOWED"], {
      description:
        "Envoy command operators, such as %REQ(x)%, in the values of headers that policies add. REFUSED, the default: such a header " +
        "is not added, with a warning; write %% for a percent sign. ALLOWED: Envoy evaluates them.",
    }),
    sharedTrustDomain: oneOfWords(["REFUSE", "WARN"], {
      description:
        "Callers of one cluster that Istio cannot tell from those of another one that its VirtualMesh joins, because their trust domains are equal, " +
        "or aliases of each other. REFUSE, the default: an AccessPolicy that names the one and not the other is INVALID, and allows neither. " +
        "WARN: it allows both, with a warning.",
    }),
  },
  { description: "Restrictions of TrafficPolicies and AccessPolicies." },
);

const cilium = userFields(
  {
    accessPolicies: oneOfWords(["DISABLED", "AUDIT", "ENABLED"], {
      description:
        "DISABLED, the default: AccessPolicies are enforced by the mesh only. AUDIT: the same, and the status of each AccessPolicy says what " +
        "ENABLED would write, and which known callers that would refuse. ENABLED: in clusters with Cilium, a CiliumNetworkPolicy enforces " +
        "callers and ports at the network layer as well. It refuses callers outside of the mesh that no AccessPolicy allows, such as Prometheus: see allowFrom.",
    }),
    allowFrom: listOf(
      Type.Object(
        {
          namespace: Type.String({ minLength: 1, description: "Namespace of the callers." }),
          serviceAccount: Type.Optional(Type.String({ description: "Service account of the callers. Empty: any." })),
          ports: Type.Optional(Type.Array(uint32({ minimum: 1, maximum: 65535 }), { description: "Ports of the pods. Empty: all." })),
        },
        { "x-kubernetes-preserve-unknown-fields": true },
      ),
      { description: "Callers that every generated CiliumNetworkPolicy allows in addition. Empty: none.", maxItems: 64 },
    ),
  },
  { description: "Enforcement at the network layer by Cilium." },
);

// As long as a name may be.
const pattern = (description: string) => Type.String({ description, maxLength: 253 });

const insights = userFields(
  {
    suppressions: listOf(
      userFields({
        code: Type.String({
          description: "Code of the insights, such as BP0001, or the beginning of codes and `*`, such as RTE10*. Required.",
        }),
        object: userFields(
          {
            cluster: pattern("Cluster of the objects; empty: the management cluster. Default: all."),
            namespace: pattern("Namespace of the objects. Default: all."),
            kind: pattern("Kind of the objects, such as VirtualService. Default: all."),
            name: pattern("Name of the objects. Default: all."),
          },
          { description: "Objects that the insights are about; in each member, `*` stands for any text. Default: all." },
        ),
        reason: Type.String({
          maxLength: 1024,
          description: "Why they are not to be shown. Required: an entry without a reason suppresses nothing.",
        }),
        until: Type.String({ description: "Last day of the suppression in UTC, such as 2027-01-31. Default: no end." }),
      }),
      {
        description:
          "Insights that are not shown, but counted. An entry that is incomplete, has ended, or has an unknown field suppresses nothing. Empty: all are shown.",
        maxItems: 256,
      },
    ),
  },
  { description: "What is said of insights: what is wrong in the fleet, and what to do about it." },
);

const agentServices = userFields(
  {
    address: Type.String({
      maxLength: 260,
      description:
        "Host, or host and port, under which proxies connect to the agent of their cluster, such as to send access logs. Default: the Service " +
        "that the agent reports (status.agent.service of its KubernetesCluster), in its namespace.",
    }),
    metrics: oneOfWords(["ENABLED", "DISABLED"], {
      description:
        "Whether agents scrape the proxies and control planes of their cluster every 30 s, so that the management server knows requests, errors and " +
        "durations between workloads. Default: DISABLED.",
    }),
    apiDiscovery: oneOfWords(["ENABLED", "DISABLED"], {
      description:
        "Whether agents read the OpenAPI documents that annotated Services and ApiSchemaDiscoveries ask for. With DISABLED they read, write and remove " +
        "nothing of it; ApiDocs that are there stay. Default: ENABLED.",
    }),
  },
  { description: "Services of agents for the proxies of their cluster." },
);

const settingsSpec = userFields(
  {
    agentServices,
    mtls: mtlsSchema,
    cilium,
    networkingExtensionServers: listOf(userFields(grpcServerFields), { unsupported: "not supported, extension servers are not called" }),
    discovery,
    failover,
    federation,
    insights,
    policies,
    relay,
    workloadClusterResources,
  },
  { description: "Settings of the management plane." },
);

export type SettingsSpec = Value<typeof settingsSpec>;

/** Settings of the management plane: one object, `settings` in the plane's namespace. */
export const Settings = defineKind({
  apiVersion: "settings.mesh.gloo.solo.io/v1",
  kind: "Settings",
  plural: "settings",
  fields: { spec: settingsSpec, status: fields(approvalFields) },
  crd: {
    description: "Settings of the management plane: one object, `settings`, in the namespace of the management plane.",
    categories: ["gloo-mesh"],
    singular: "settings",
    printerColumns: [approvalColumns[0], approvalColumns[2], approvalColumns[3]],
  },
});

export type Settings = ReturnType<typeof Settings.parse>;
