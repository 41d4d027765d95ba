import { Type } from "@sinclair/typebox";
import { mtls } from "../networking/trafficPolicySpec.ts";
import { approvalColumns, approvalFields } from "../shared/approval.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { duration } from "../shared/duration.ts";
import { fields, listOf, mapOf, oneOfWords, stringMap, strings, uint32, userFields } from "../shared/schema.ts";

const grpcServer = userFields({
  address: Type.String({ description: "Host and port." }),
  insecure: Type.Boolean({ description: "Connect without TLS." }),
  reconnectOnNetworkFailures: Type.Boolean({ description: "Connect again after the network failed." }),
});

const namespaceSelector = userFields(
  {
    matchLabels: stringMap({ description: "All of these labels must be on the namespace." }),
    matchExpressions: listOf(
      userFields({
        key: Type.String(),
        operator: oneOfWords(["In", "NotIn", "Exists", "DoesNotExist"]),
        values: strings(),
      }),
    ),
  },
  { description: "A Kubernetes label selector on namespaces." },
);

const ingressGatewayDetector = userFields({
  gatewayWorkloadLabels: stringMap({ description: "Labels of gateway pods. Default istio: ingressgateway." }),
  gatewayTlsPortName: Type.String({ description: "Name of the port that takes traffic of other clusters. Default tls." }),
});

const discovery = userFields(
  {
    istio: userFields({
      ingressGatewayDetectors: mapOf(ingressGatewayDetector, {
        description:
          "How ingress gateways are told, by cluster name; `*` is for all others. Deprecated: use VirtualMesh gateway selectors.",
      }),
    }),
    selectors: listOf(namespaceSelector, {
      description: "Only namespaces that an entry selects are discovered, beside the discovery selectors of each mesh. Empty: all.",
      maxItems: 256,
    }),
    publish: oneOfWords(["ALL", "FEDERATED_OR_TARGETED", "NONE"], {
      description:
        "What of it is written to the management cluster. ALL, the default; FEDERATED_OR_TARGETED: all Meshes, Destinations " +
        "that are federated, targeted by a policy or gateways in use, and the Workloads behind them; NONE.",
    }),
  },
  { description: "What is discovered." },
);

const relay = userFields(
  {
    enabled: Type.Boolean({ description: "Clusters are served through agents." }),
    server: grpcServer,
    registration: oneOfWords(["OPEN", "KNOWN_CLUSTERS"], {
      description: "OPEN, the default: a right token is enough. KNOWN_CLUSTERS: the KubernetesCluster must exist before.",
    }),
    sharedToken: oneOfWords(["NEW_NAMES", "ANY_NAME"], {
      description:
        "What the relay identity token alone opens, which all agents know. NEW_NAMES, the default: names that have never been " +
        "registered; others need the agent's certificate or a join token. ANY_NAME: whoever has it can take any name.",
    }),
    agentCertificateLifetime: duration({
      description: "How long agents' certificates live; they are renewed after half of it. At least 1m, at most 8760h. Default 24h.",
    }),
    deleteBudget: userFields(
      {
        percent: uint32({ maximum: 100, description: "Share of a cluster's objects in percent. Default 20." }),
        objects: uint32({ description: "Number of objects, if that is more. Default 50." }),
      },
      {
        description:
          "How much may be deleted in a cluster within a minute because discovered objects vanished; above it, deletes pause. Agents " +
          "allow no more than their own --delete-budget-percent and --delete-budget-objects, 20 and 50.",
      },
    ),
    agentQuota: userFields(
      {
        objects: uint32({ description: "Number of objects. Default 1000000." }),
        bytes: uint32({ description: "Bytes of their JSON. Default 2147483648." }),
      },
      {
        description:
          "How much one agent may report. What is above it is refused, object by object, and the KubernetesCluster says so; what was " +
          "taken before stays.",
      },
    ),
  },
  { description: "How management server and agents work together." },
);

const federation = userFields(
  {
    maxObjectsPerCluster: uint32({
      description:
        "How many objects the federation of one VirtualMesh may write into one cluster. Above it nothing of it is federated, " +
        "what was federated before included, and the VirtualMesh's status says so; its other parts stay in force. Default: no " +
        "limit, and a warning above 2000.",
    }),
  },
  { description: "What VirtualMeshes may federate." },
);

const RESOURCE_TARGETS = ["ANY_DESTINATION", "OWN_DESTINATIONS"] as const;

const workloadClusterResources = userFields(
  {
    targets: oneOfWords(RESOURCE_TARGETS, {
      description:
        "OWN_DESTINATIONS, the default: they take effect only on Destinations and Meshes of the cluster that they live in; what " +
        "names others is INVALID, and a selector that names no cluster means their own. ANY_DESTINATION: as those of the management cluster do.",
    }),
    clusters: mapOf(oneOfWords(RESOURCE_TARGETS), { description: "The same by cluster name; an entry wins over `targets`." }),
    virtualMeshes: oneOfWords(["REFUSED", "ALLOWED"], {
      description:
        "REFUSED, the default: VirtualMeshes of workload clusters are INVALID. ALLOWED: they count, for the Meshes that `targets` and " +
        "`clusters` let them have.",
    }),
  },
  { description: "What policies and other resources may do that users create in workload clusters." },
);

const policies = userFields(
  {
    namespaces: oneOfWords(["ANY", "OWN"], {
      description:
        "ANY, the default: a policy may target Destinations of every namespace. OWN: only of its own; what names others is INVALID. " +
        "Policies in the plane's namespace of the management cluster may target every one nevertheless.",
    }),
    headerOperators: oneOfWords(["REFUSED", "ALLOWED"], {
      description:
        "Envoy's command operators, such as %REQ(x)%, in the values of headers that policies add. REFUSED, the default: such a header " +
        "is left out, with a warning; a % by itself is written %%. ALLOWED: Envoy fills them in.",
    }),
  },
  { description: "What TrafficPolicies and AccessPolicies may do." },
);

const settingsSpec = userFields(
  {
    mtls,
    networkingExtensionServers: listOf(grpcServer, { unsupported: "not supported, extension servers are not called" }),
    discovery,
    federation,
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
    description: "Settings of the management plane: one object, `settings` in the plane's namespace.",
    categories: ["gloo-mesh"],
    singular: "settings",
    printerColumns: [approvalColumns[0], approvalColumns[2], approvalColumns[3]],
  },
});

export type Settings = ReturnType<typeof Settings.parse>;
