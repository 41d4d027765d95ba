/** What a user who installs an agent must be allowed to do in a cluster. */
export interface NeededPermission {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  /** In the namespace of the agent alone. */
  readonly isNamespaced: boolean;
}

const RBAC = "rbac.authorization.k8s.io";
const ADMISSION = "admissionregistration.k8s.io";

/** What the agent's manifest holds. */
export const INSTALLING: readonly NeededPermission[] = [
  { verb: "create", group: "", resource: "namespaces", isNamespaced: false },
  { verb: "create", group: "apiextensions.k8s.io", resource: "customresourcedefinitions", isNamespaced: false },
  { verb: "create", group: ADMISSION, resource: "validatingadmissionpolicies", isNamespaced: false },
  { verb: "create", group: ADMISSION, resource: "validatingadmissionpolicybindings", isNamespaced: false },
  { verb: "create", group: RBAC, resource: "clusterroles", isNamespaced: false },
  { verb: "create", group: RBAC, resource: "clusterrolebindings", isNamespaced: false },
  { verb: "create", group: "", resource: "serviceaccounts", isNamespaced: true },
  { verb: "create", group: "", resource: "secrets", isNamespaced: true },
  { verb: "create", group: RBAC, resource: "roles", isNamespaced: true },
  { verb: "create", group: RBAC, resource: "rolebindings", isNamespaced: true },
  { verb: "create", group: "apps", resource: "deployments", isNamespaced: true },
];

/** What lets the server connect to a cluster itself. */
export const INSTALLING_ACCOUNT: readonly NeededPermission[] = [
  { verb: "create", group: RBAC, resource: "clusterroles", isNamespaced: false },
  { verb: "create", group: RBAC, resource: "clusterrolebindings", isNamespaced: false },
  { verb: "create", group: "", resource: "serviceaccounts", isNamespaced: true },
  { verb: "create", group: "", resource: "secrets", isNamespaced: true },
];

/** What a user who registers a cluster must be allowed to do in the management cluster. */
export const REGISTERING_CLUSTER: readonly NeededPermission[] = [
  { verb: "create", group: "multicluster.solo.io", resource: "kubernetesclusters", isNamespaced: true },
  { verb: "patch", group: "multicluster.solo.io", resource: "kubernetesclusters", isNamespaced: true },
  { verb: "create", group: "", resource: "secrets", isNamespaced: true },
];
