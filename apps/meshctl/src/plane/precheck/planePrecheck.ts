import { abortedAfter } from "@isthmus/core";
import type { ApiServer } from "@isthmus/kubernetes";
import type { NeededFoundations } from "../../cluster/install/installPlane.ts";
import type { NeededPermission } from "./permissions.ts";
import { kubernetesIsSupported, LACKING_REMEDY, permissionText } from "./prechecks.ts";
import { lackingOf, NO_POLICIES, type TargetState } from "./targetState.ts";

const RBAC = "rbac.authorization.k8s.io";

/** What the manifest of the management server holds. */
export const INSTALLING_SERVER: readonly NeededPermission[] = [
  { verb: "create", group: RBAC, resource: "clusterroles", isNamespaced: false },
  { verb: "create", group: RBAC, resource: "clusterrolebindings", isNamespaced: false },
  { verb: "create", group: "", resource: "serviceaccounts", isNamespaced: true },
  { verb: "create", group: "", resource: "services", isNamespaced: true },
  { verb: "create", group: "", resource: "persistentvolumeclaims", isNamespaced: true },
  { verb: "create", group: RBAC, resource: "roles", isNamespaced: true },
  { verb: "create", group: RBAC, resource: "rolebindings", isNamespaced: true },
  { verb: "create", group: "apps", resource: "deployments", isNamespaced: true },
  { verb: "create", group: "networking.k8s.io", resource: "networkpolicies", isNamespaced: true },
];

/** What keeps the management plane from being installed: an old Kubernetes, or rights that the user lacks. None when all is well. */
export async function planeProblems(api: ApiServer, namespace: string, needs: NeededFoundations): Promise<readonly string[]> {
  const signal = abortedAfter(LONGEST_MS);
  const needed: readonly NeededPermission[] = [
    ...(needs.namespace ? [{ verb: "create", group: "", resource: "namespaces", isNamespaced: false }] : []),
    ...(needs.definitions
      ? [{ verb: "create", group: "apiextensions.k8s.io", resource: "customresourcedefinitions", isNamespaced: false }]
      : []),
    ...INSTALLING_SERVER,
  ];
  return problemsOf(api, { namespace, needed }, signal);
}

/** Why objects cannot be created in a cluster: an old Kubernetes, or rights that the user lacks. */
export async function problemsOf(
  api: ApiServer,
  { namespace, needed }: { readonly namespace: string; readonly needed: readonly NeededPermission[] },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const state: TargetState = {
    namespace,
    lacking: await lackingOf(api, { namespace, needed }, signal),
    kubernetes: await api.version(signal),
    agents: [],
    discovered: { meshes: [], reports: [] },
    policies: NO_POLICIES,
    aheadMs: undefined,
  };
  // A version that is not understood is no reason to refuse.
  const problems = kubernetesIsSupported.findings(state).filter(({ severity }) => severity === "error");
  const { lacking } = state;
  return [
    ...problems.map(({ message, remedy }) => `${message}: ${remedy}`),
    ...(lacking.length === 0 ? [] : [`your user cannot ${lacking.map(permissionText).join(", ")}: ${LACKING_REMEDY}`]),
  ];
}

/** Each request is short. */
const LONGEST_MS = 30_000;
