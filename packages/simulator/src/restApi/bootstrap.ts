import type { Resource } from "@isthmus/core";
import type { SimulatedState } from "../state.ts";

const RBAC = "rbac.authorization.k8s.io";

/** What an API server makes of itself, as far as users look at it; without what is there already. */
export function bootstrapObjects(state: SimulatedState): readonly Resource[] {
  return objects().filter(
    ({ apiVersion, kind, metadata: { name, namespace = "" } }) => state.find({ apiVersion, kind, name, namespace }) === undefined,
  );
}

function objects(): readonly Resource[] {
  const labels = { "kubernetes.io/bootstrapping": "rbac-defaults" };
  const annotations = { "rbac.authorization.kubernetes.io/autoupdate": "true" };
  const role = (name: string, rules: readonly object[]) => ({
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRole",
    metadata: { name, labels, annotations },
    rules,
  });
  const binding = (name: string, groups: readonly string[]) => ({
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name, labels, annotations },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name },
    subjects: groups.map((group) => ({ apiGroup: RBAC, kind: "Group", name: group })),
  });
  const everything = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };
  const readable = {
    apiGroups: ["", "apps", "batch", "autoscaling", "policy", "networking.k8s.io", "discovery.k8s.io"],
    resources: ["*"],
    verbs: ["get", "list", "watch"],
  };
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "kubernetes", namespace: "default", labels: { component: "apiserver", provider: "kubernetes" } },
      spec: { clusterIP: "10.96.0.1", clusterIPs: ["10.96.0.1"], ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }] },
    },
    ...[
      [
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
      ],
      ["system-node-critical", 2_000_001_000, "Used for system critical pods that must not be moved from their current node."],
    ].map(([name, value, description]) => ({
      apiVersion: "scheduling.k8s.io/v1",
      kind: "PriorityClass",
      metadata: { name: String(name) },
      value,
      description,
    })),
    role("cluster-admin", [everything, { nonResourceURLs: ["*"], verbs: ["*"] }]),
    role("admin", [everything]),
    role("edit", [{ ...readable, verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] }]),
    role("view", [readable]),
    role("system:basic-user", [
      { apiGroups: ["authorization.k8s.io"], resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"], verbs: ["create"] },
      { apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"], verbs: ["create"] },
    ]),
    role("system:discovery", [
      {
        nonResourceURLs: [
          "/api",
          "/api/*",
          "/apis",
          "/apis/*",
          "/healthz",
          "/livez",
          "/openapi",
          "/openapi/*",
          "/readyz",
          "/version",
          "/version/",
        ],
        verbs: ["get"],
      },
    ]),
    role("system:public-info-viewer", [{ nonResourceURLs: ["/healthz", "/livez", "/readyz", "/version", "/version/"], verbs: ["get"] }]),
    binding("system:basic-user", ["system:authenticated"]),
    binding("system:discovery", ["system:authenticated"]),
    binding("system:public-info-viewer", ["system:authenticated", "system:unauthenticated"]),
    {
      apiVersion: `${RBAC}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "cluster-admin", labels, annotations },
      roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ apiGroup: RBAC, kind: "Group", name: "system:masters" }],
    },
  ] as readonly Resource[];
}
