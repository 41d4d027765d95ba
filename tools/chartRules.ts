import {
  agentKinds,
  askedKinds,
  contributedKinds,
  deliveredKinds,
  KubernetesCluster,
  managementKinds,
  ownKinds,
  publishedKinds,
  Settings,
} from "@isthmus/api";
import { groupOf, type Kind } from "@isthmus/core";

/** One rule of a role: each verb with its reason. */
export interface ChartRule {
  readonly about: string;
  readonly apiGroup: string;
  readonly resources: readonly string[];
  /** Narrows the verbs to objects of these names; a list or watch then names one of them. */
  readonly resourceNames?: readonly string[];
  readonly verbs: Readonly<Record<string, string>>;
}

/** The rules of one chart, by the name of their template. */
export type ChartRules = Readonly<Record<string, readonly ChartRule[]>>;

const READ = {
  list: "the state at the start, and after a watch has expired",
  watch: "changes as they happen",
};

// An object is looked up again right before it is written or deleted: a watch may be a moment late.
const READ_BEFORE_WRITING = { get: "read again right before a write: what is not ours is never changed", ...READ };

const WRITE = {
  create: "first write of an object; unlike apply, it never joins an object that somebody else creates at the same moment",
  update: "hands the fields of a created object over to server-side apply, once",
  patch: "server-side apply of changes",
  delete: "only objects with our owner label and field manager, with UID and resourceVersion as preconditions",
};

const CLUSTER_UID: ChartRule = {
  about: "the UID of kube-system, which identifies the cluster",
  apiGroup: "",
  resources: ["namespaces"],
  resourceNames: ["kube-system"],
  verbs: { get: "once at the start" },
};

const CRDS: ChartRule = {
  about: "which kinds the cluster serves, and since when not",
  apiGroup: "apiextensions.k8s.io",
  resources: ["customresourcedefinitions"],
  verbs: READ,
};

const SECRETS = { get: "read again right before it is used, or written", ...READ };

const LEASES: ChartRule = {
  about: "leader election among replicas",
  apiGroup: "coordination.k8s.io",
  resources: ["leases"],
  verbs: { get: "who leads", create: "the first election", update: "to lead, to continue, to resign" },
};

/** What an agent needs, from the table of kinds; `write` apart, so that it can be granted in some namespaces only. */
export function agentRules(): ChartRules {
  const reported = [...agentKinds(), ...contributedKinds()];
  const delivered = deliveredKinds();
  return {
    clusterRules: [
      CLUSTER_UID,
      ...rulesOn(
        reported.filter((kind) => !delivered.includes(kind)),
        "reported to the management server",
        READ,
      ),
      ...rulesOn(delivered, "applied for the management server; conflicts are found before", READ_BEFORE_WRITING),
      ...rulesOn(
        contributedKinds(),
        "statuses of user resources in this cluster",
        { patch: "server-side apply of the status alone" },
        "/status",
      ),
      CRDS,
    ],
    writeRules: rulesOn(delivered, "applied for the management server", WRITE),
    namespaceRules: [
      {
        about: "its certificate, the root that it trusts, and its token: no other Secret",
        apiGroup: "",
        resources: ["secrets"],
        resourceNames: ["relay-client-tls-secret", "relay-root-tls-secret", "relay-identity-token-secret"],
        verbs: SECRETS,
      },
      {
        about: "its certificate",
        apiGroup: "",
        resources: ["secrets"],
        resourceNames: ["relay-client-tls-secret"],
        verbs: { update: "stores a renewed certificate; one that a user provided is never changed" },
      },
      {
        about: "its certificate, and keys of meshes; Kubernetes cannot limit this verb to a name",
        apiGroup: "",
        resources: ["secrets"],
        verbs: { create: "stores the first certificate in relay-client-tls-secret, the first key in mesh-certificate-keys" },
      },
    ],
    ...CERTIFICATE_RULES,
    electionRules: [LEASES],
    adminRules: ADMIN_RULES,
  };
}

// Only where the CAs of meshes are asked for: with them goes the identity of every workload of a mesh.
const CERTIFICATE_RULES: ChartRules = {
  pendingKeyRules: [
    {
      about: "keys of CAs that are requested, and not installed yet",
      apiGroup: "",
      resources: ["secrets"],
      resourceNames: ["mesh-certificate-keys"],
      verbs: { get: "a key is made once, and kept until its CA is installed", update: "in exactly the version that was read" },
    },
  ],
  certificateRules: [
    {
      about: "the CA of the control plane in this namespace",
      apiGroup: "",
      resources: ["secrets"],
      resourceNames: ["cacerts"],
      verbs: { get: "what is installed; what is not ours is never changed", update: "the next step, in exactly the version that was read" },
    },
    {
      about: "the CA that the control plane has made itself",
      apiGroup: "",
      resources: ["secrets"],
      resourceNames: ["istio-ca-secret"],
      verbs: { get: "proxies must trust it until none has a certificate of it" },
    },
    {
      about: "the CA; Kubernetes cannot limit this verb to a name",
      apiGroup: "",
      resources: ["secrets"],
      verbs: { create: "the first cacerts of a mesh" },
    },
  ],
  handedOutRules: [
    {
      about: "the roots that the control plane hands out to the proxies of each namespace",
      apiGroup: "",
      resources: ["configmaps"],
      resourceNames: ["istio-ca-root-cert"],
      verbs: { get: "the one sign that it has read them" },
    },
  ],
  restartRules: [
    {
      about: "restarts of pods that use earlier certificates, where a VirtualMesh has autoRestartPods",
      apiGroup: "",
      resources: ["pods/eviction"],
      verbs: { create: "an eviction is a request that is created; unlike a deletion it keeps to PodDisruptionBudgets" },
    },
  ],
};

// What the ClusterRole system:auth-delegator grants.
const ADMIN_RULES: readonly ChartRule[] = [
  {
    about: "protected pages of the admin port: who sends the token",
    apiGroup: "authentication.k8s.io",
    resources: ["tokenreviews"],
    verbs: { create: "a review is a request that is created" },
  },
  {
    about: "protected pages of the admin port: what its user may read",
    apiGroup: "authorization.k8s.io",
    resources: ["subjectaccessreviews"],
    verbs: { create: "a review is a request that is created" },
  },
];

/** What a management server needs in its own cluster, from the table of kinds. */
export function serverRules(): ChartRules {
  return {
    clusterRules: [
      CLUSTER_UID,
      ...rulesOn(
        managementKinds().filter((kind) => !ownKinds().includes(kind)),
        "users' resources, and what is published of workload clusters",
        READ,
      ),
      ...rulesOn(askedKinds(), "statuses of user resources", { patch: "server-side apply of the status alone" }, "/status"),
      CRDS,
    ],
    namespaceRules: [
      {
        about: "certificates, tokens and keys of the relay, registered names, key of the store, generated roots of VirtualMeshes",
        apiGroup: "",
        resources: ["secrets"],
        verbs: {
          ...SECRETS,
          create: "what is absent at the start, and join tokens",
          update: "renews what this server generated, and records names; Secrets of users are never changed",
          delete: "join tokens, which are valid once",
        },
      },
      ...rulesOn(publishedKinds(), "discovery, published in its own namespace", { get: READ_BEFORE_WRITING.get, ...WRITE }),
      ...rulesOn(
        publishedKinds(),
        "which policies apply to what was discovered",
        { patch: "server-side apply of the status alone" },
        "/status",
      ),
      ...rulesOn([KubernetesCluster], "registration of clusters", {
        get: "read again right before a registration",
        create: "an agent with a valid token registers a new name",
      }),
      ...rulesOn([Settings], "registration of clusters", { get: "whether new names may register, right before one does" }),
      ...rulesOn(
        [KubernetesCluster],
        "who is registered and connected",
        { patch: "server-side apply of the status alone", update: "in exactly the version that permits a cluster to be replaced" },
        "/status",
      ),
    ],
    electionRules: [LEASES],
    adminRules: ADMIN_RULES,
  };
}

/** One rule for each API group, in the order of the table. */
function rulesOn(kinds: readonly Kind[], about: string, verbs: ChartRule["verbs"], subresource = ""): readonly ChartRule[] {
  const groups = new Map<string, string[]>();
  for (const { apiVersion, plural } of kinds) {
    const group = groupOf(apiVersion);
    groups.set(group, [...(groups.get(group) ?? []), `${plural}${subresource}`]);
  }
  return [...groups].map(([apiGroup, resources]) => ({ about, apiGroup, resources, verbs }));
}

/** A file of Helm templates, one for each list of rules, as YAML with the reasons as comments. */
export function rulesTemplate(chart: string, rules: ChartRules): string {
  const templates = Object.entries(rules).map(
    ([name, list]) => `{{- define "${chart}.${name}" -}}\n${list.map(ruleText).join("\n")}\n{{- end }}\n`,
  );
  return `{{- /* Generated by npm run generate:charts from packages/api/src/roles.ts and tools/chartRules.ts. */}}\n${templates.join("\n")}`;
}

function ruleText({ about, apiGroup, resources, resourceNames, verbs }: ChartRule): string {
  return [
    `# ${about}`,
    `- apiGroups: ["${apiGroup}"]`,
    `  resources: [${resources.join(", ")}]`,
    ...(resourceNames === undefined ? [] : [`  resourceNames: [${resourceNames.join(", ")}]`]),
    "  verbs:",
    ...Object.entries(verbs).map(([verb, reason]) => `    - ${verb} # ${reason}`),
  ].join("\n");
}
