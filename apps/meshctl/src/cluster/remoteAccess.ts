import { workloadClusterRules } from "@isthmus/api";
import { type AnyResource, groupOf, type JsonObject, type Kind } from "@isthmus/core";

/** Names of what registration makes in the remote cluster. Source: published registration. */
const REMOTE_ROLE = "gloomesh-remote-access";
const bindingName = (clusterName: string): string => `${clusterName}-gloomesh-remote-access-clusterrole-binding`;
/** Name of the Secret with the token of the ServiceAccount by which the server accesses a cluster in standard mode. */
export const tokenSecretName = (clusterName: string): string => `${clusterName}-token`;

/** By it we know what is ours to change and to delete. */
export const OURS: Readonly<Record<string, string>> = { app: "gloo-mesh" };

/** Whether an object of a remote cluster is ours. */
export function isOurs({ metadata: { labels = {} } }: { readonly metadata: AnyResource["metadata"] }): boolean {
  return Object.entries(OURS).every(([key, value]) => labels[key] === value);
}

const RBAC = "rbac.authorization.k8s.io/v1";
export const ServiceAccount = untyped("v1", "ServiceAccount", "serviceaccounts");
export const ClusterRole = untyped(RBAC, "ClusterRole", "clusterroles", false);
export const ClusterRoleBinding = untyped(RBAC, "ClusterRoleBinding", "clusterrolebindings", false);
export const RemoteNamespace = untyped("v1", "Namespace", "namespaces", false);

/** A namespace to be created. It bears a label, as an API server does not note who applied an object of which nothing is declared. */
export function namespaceToCreate(name: string): AnyResource {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { "app.kubernetes.io/managed-by": "meshctl" } } };
}

/** What the server may do in a cluster that it connects to, as its chart grants it in its own: nothing else. */
export function policyRules(): readonly JsonObject[] {
  const { read, write } = workloadClusterRules("server");
  return [...read, ...write].map(({ apiGroup, resources, resourceNames, verbs }) => ({
    apiGroups: [apiGroup],
    resources,
    ...(resourceNames === undefined ? {} : { resourceNames }),
    verbs: Object.keys(verbs),
  }));
}

/** The objects of the remote cluster, in the order in which they are made. */
export function remoteObjects(clusterName: string, namespace: string): readonly { readonly kind: Kind; readonly resource: AnyResource }[] {
  const account = { name: clusterName, namespace };
  return [
    { kind: ServiceAccount, resource: object(ServiceAccount, account) },
    { kind: ClusterRole, resource: object(ClusterRole, { name: REMOTE_ROLE }, { rules: policyRules() }) },
    {
      kind: ClusterRoleBinding,
      resource: object(
        ClusterRoleBinding,
        { name: bindingName(clusterName) },
        {
          roleRef: { apiGroup: groupOf(RBAC), kind: "ClusterRole", name: REMOTE_ROLE },
          subjects: [{ kind: "ServiceAccount", ...account }],
        },
      ),
    },
  ];
}

function object(
  { apiVersion, kind }: Kind,
  metadata: { readonly name: string; readonly namespace?: string },
  rest: JsonObject = {},
): AnyResource {
  return { apiVersion, kind, metadata: { ...metadata, labels: OURS }, ...rest };
}

/** A kind whose objects are taken as they are. */
export function untyped(apiVersion: string, kind: string, plural: string, namespaced = true): Kind<AnyResource> {
  return { apiVersion, kind, plural, namespaced, versions: [apiVersion], parse: (input) => input as AnyResource };
}
