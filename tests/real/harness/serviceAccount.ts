import type { Cluster } from "@isthmus/ports";
import type { ApiServer } from "./apiServer.ts";
import { requestTo } from "./requestTo.ts";

/** Creates a ServiceAccount in the namespace `default`; gives a token of it, for the API server. */
export async function serviceAccountToken(server: ApiServer, cluster: Cluster, name: string): Promise<string> {
  await cluster.create({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: "default" } });
  return tokenFor(server, name, ["https://kubernetes.default.svc"]);
}

/** A token of a ServiceAccount, as `kubectl create token NAME --audience=…` gives it. */
export async function tokenFor(
  server: Pick<ApiServer, "url" | "kubeconfig">,
  name: string,
  audiences: readonly string[],
  namespace = "default",
): Promise<string> {
  const issued = (await requestTo(server, "POST", `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { audiences, expirationSeconds: 3600 },
  })) as { status: { token: string } };
  return issued.status.token;
}

/** Lets a ServiceAccount of that name, in the namespace `default`, get some paths that name no resource. */
export async function allowPaths(cluster: Cluster, name: string, paths: readonly string[]): Promise<void> {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const rules = [{ nonResourceURLs: paths, verbs: ["get"] }];
  await cluster.create({ apiVersion, kind: "ClusterRole", metadata: { name }, ...{ rules } });
  const subjects = [{ kind: "ServiceAccount", name, namespace: "default" }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  await cluster.create({ apiVersion, kind: "ClusterRoleBinding", metadata: { name }, ...{ subjects, roleRef } });
}
