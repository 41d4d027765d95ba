import {
  type AccessRule,
  accessRulesOn,
  CLUSTER_UID_RULE,
  certificateAgentRules,
  KubernetesCluster,
  managementKinds,
  ownKinds,
  publishedKinds,
  READ_BEFORE_WRITING_REASONS,
  READ_REASONS,
  SERVED_KINDS_RULE,
  Settings,
  STATUS_REASONS,
  userStatusKinds,
  WRITE_REASONS,
  workloadClusterRules,
} from "@isthmus/api";

/** The rules of one chart, by the name of their template. */
export type ChartRules = Readonly<Record<string, readonly AccessRule[]>>;

const SECRETS = { get: "read again right before it is used, or written", ...READ_REASONS };

const LEASES: AccessRule = {
  about: "leader election among replicas",
  apiGroup: "coordination.k8s.io",
  resources: ["leases"],
  verbs: { get: "who leads", create: "the first election", update: "to lead, to continue, to resign" },
};

/** What an agent needs, from the table of kinds; `write` apart, so that it can be granted in some namespaces only. */
export function agentRules(): ChartRules {
  const { read, write } = workloadClusterRules("agent");
  const { everywhere, own } = certificateAgentRules();
  return {
    clusterRules: read,
    writeRules: write,
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
        about:
          "its certificate, and keys of meshes; roles cannot limit this verb to a name, the ValidatingAdmissionPolicy of the chart does",
        apiGroup: "",
        resources: ["secrets"],
        verbs: { create: "stores the first certificate in relay-client-tls-secret, the first key in mesh-certificate-keys" },
      },
    ],
    standardRules: everywhere,
    standardNamespaceRules: [
      ...own,
      {
        about: "keys of meshes; roles cannot limit this verb to a name, the ValidatingAdmissionPolicy of the chart does",
        apiGroup: "",
        resources: ["secrets"],
        verbs: { create: "stores the first key in mesh-certificate-keys" },
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
    {
      about: "the token of Vault, where tokenSecretRef of a VirtualMesh names it",
      apiGroup: "",
      resources: ["secrets"],
      resourceNames: ["vault-token"],
      verbs: { get: "read for each request, and sent to the servers in meshCertificates.vault.servers alone" },
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
      about: "the CA; roles cannot limit this verb to a name, the ValidatingAdmissionPolicy of the chart does",
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
  rolloutRules: [
    {
      about: "restarts of workloads by rollouts, where the chart has it; whoever may patch these may run any pod",
      apiGroup: "apps",
      resources: ["deployments", "statefulsets", "daemonsets"],
      verbs: { get: "whether it can be rolled out, and has been", patch: "one annotation of its pod template" },
    },
  ],
};

// What the ClusterRole system:auth-delegator grants.
const CONSOLE_RULES = reviewRules("users of the console", {
  tokens: "who sends the token, and whether it still counts",
  access: "what they may list is what they see",
});

const ADMIN_RULES = reviewRules("protected pages of the admin port", {
  tokens: "who sends the token",
  access: "what its user may read",
});

/** To ask who users are and what they may do. */
function reviewRules(about: string, { tokens, access }: { readonly tokens: string; readonly access: string }): readonly AccessRule[] {
  const verbs = { create: "a review is a request that is created" };
  return [
    { about: `${about}: ${tokens}`, apiGroup: "authentication.k8s.io", resources: ["tokenreviews"], verbs },
    { about: `${about}: ${access}`, apiGroup: "authorization.k8s.io", resources: ["subjectaccessreviews"], verbs },
  ];
}

/** What a management server needs in its own cluster, from the table of kinds. */
export function serverRules(): ChartRules {
  return {
    clusterRules: [
      CLUSTER_UID_RULE,
      ...accessRulesOn(
        managementKinds().filter((kind) => !ownKinds().includes(kind)),
        "users' resources, and what is published of workload clusters",
        READ_REASONS,
      ),
      ...accessRulesOn(userStatusKinds(), "statuses of user resources", STATUS_REASONS, "/status"),
      SERVED_KINDS_RULE,
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
      ...accessRulesOn(publishedKinds(), "discovery, published in its own namespace", {
        get: READ_BEFORE_WRITING_REASONS.get,
        ...WRITE_REASONS,
      }),
      ...accessRulesOn(publishedKinds(), "which policies apply to what was discovered", STATUS_REASONS, "/status"),
      ...accessRulesOn([KubernetesCluster], "registration of clusters", {
        get: "read again right before a registration",
        create: "an agent with a valid token registers a new name",
      }),
      ...accessRulesOn([Settings], "registration of clusters", { get: "whether new names may register, right before one does" }),
      ...accessRulesOn(
        [KubernetesCluster],
        "who is registered and connected",
        { ...STATUS_REASONS, update: "in exactly the version that permits a cluster to be replaced" },
        "/status",
      ),
    ],
    eventRules: [
      {
        about: "Events on policies and registrations: which insights begin and end",
        apiGroup: "",
        resources: ["events"],
        verbs: { create: "each Event is a new one; none is read or changed" },
      },
    ],
    electionRules: [LEASES],
    adminRules: ADMIN_RULES,
    consoleRules: CONSOLE_RULES,
    consoleNamespaceRules: [
      {
        about: "which namespaces bear the label that lets rights in them count for other clusters",
        apiGroup: "",
        resources: ["namespaces"],
        verbs: { list: "each minute, while users follow" },
      },
    ],
  };
}

/** A file of Helm templates, one for each list of rules, as YAML with the reasons as comments. */
export function rulesTemplate(chart: string, rules: ChartRules): string {
  const templates = Object.entries(rules).map(
    ([name, list]) => `{{- define "${chart}.${name}" -}}\n${list.map(ruleText).join("\n")}\n{{- end }}\n`,
  );
  return `{{- /* Generated by npm run generate:charts from packages/api/src/roles.ts and tools/chartRules.ts. */}}\n${templates.join("\n")}`;
}

function ruleText({ about, apiGroup, resources, resourceNames, verbs }: AccessRule): string {
  return [
    `# ${about}`,
    `- apiGroups: ["${apiGroup}"]`,
    `  resources: [${resources.join(", ")}]`,
    ...(resourceNames === undefined ? [] : [`  resourceNames: [${resourceNames.join(", ")}]`]),
    "  verbs:",
    ...Object.entries(verbs).map(([verb, reason]) => `    - ${verb} # ${reason}`),
  ].join("\n");
}
