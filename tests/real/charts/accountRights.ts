import { groupOf } from "@isthmus/core";
import type { Cluster } from "@isthmus/plane/ports";
import type { ApiServer } from "../harness/apiServer.ts";
import { anyKind } from "../harness/clusters.ts";
import { requestTo } from "../harness/requestTo.ts";

const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
/** Of Kubernetes itself: what would let an account have others. */
const SUBRESOURCES = ["/pods/exec", "/pods/log", "/pods/eviction", "/serviceaccounts/token", "/nodes/proxy", "/services/proxy"];
/** What every authenticated user may do. */
const EVERYONE = /^(authorization\.k8s\.io\/selfsubject(access|rules)reviews|authentication\.k8s\.io\/selfsubjectreviews) create$/;
const AT_ONCE = 16;

interface Account {
  readonly server: ApiServer;
  /** As its administrator. */
  readonly cluster: Cluster;
  /** Of the account, as a file. */
  readonly kubeconfig: string;
}

/** What an account may do in a namespace, as `group/resource verb`: each verb on each resource that the API server serves is asked for. */
export async function rightsIn(
  { server, cluster, kubeconfig }: Account,
  namespace: string,
): Promise<{ readonly allowed: readonly string[]; readonly asked: number }> {
  const resources = new Map<string, boolean>();
  for (const { apiVersion, plural, namespaced } of await cluster.servedKinds()) {
    const name = `${groupOf(apiVersion)}/${plural}`;
    resources.set(name, namespaced);
    if (name.includes(".")) resources.set(`${name}/status`, namespaced);
  }
  for (const name of SUBRESOURCES) resources.set(name, true);
  const questions = [...resources].flatMap(([resource, namespaced]) => VERBS.map((verb) => ({ resource, namespaced, verb })));
  const allowed: string[] = [];
  const left = [...questions];
  const asAccount = { ...server, kubeconfig };
  async function ask(): Promise<void> {
    for (let question = left.pop(); question !== undefined; question = left.pop()) {
      const { resource: name, namespaced, verb } = question;
      const [group, resource, subresource] = name.split("/");
      const resourceAttributes = { group, resource, subresource, verb, ...(namespaced ? { namespace } : {}) };
      if (await isAllowed(asAccount, resourceAttributes)) allowed.push(`${name} ${verb}`);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  return { allowed: allowed.filter((right) => !EVERYONE.test(right)).sort(), asked: questions.length };
}

/** What an account may do with single objects of a resource of the core group, as `name verb`. */
export async function rightsOnNamed(
  { server, kubeconfig }: Account,
  { resource, namespace, names }: { readonly resource: string; readonly namespace: string; readonly names: readonly string[] },
): Promise<readonly string[]> {
  const allowed: string[] = [];
  for (const name of new Set(names)) {
    for (const verb of VERBS) {
      if (await isAllowed({ ...server, kubeconfig }, { group: "", resource, namespace, name, verb })) allowed.push(`${name} ${verb}`);
    }
  }
  return allowed.sort();
}

async function isAllowed(server: ApiServer, resourceAttributes: object): Promise<boolean> {
  const { status } = (await requestTo(server, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    spec: { resourceAttributes },
  })) as { readonly status: { readonly allowed: boolean } };
  return status.allowed;
}

const RBAC = "rbac.authorization.k8s.io/v1";
const ROLES = [anyKind(RBAC, "ClusterRole", "clusterroles", { namespaced: false }), anyKind(RBAC, "Role", "roles")];

interface RoleFields {
  readonly rules: readonly Readonly<Record<"apiGroups" | "resources" | "verbs", readonly string[]>>[];
}

/** What the roles of a release grant, as `group/resource verb`. */
export async function grantedVerbs(
  cluster: Cluster,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): Promise<readonly string[]> {
  const lists = await Promise.all(ROLES.map((kind) => cluster.list(kind)));
  const names = new Set([name, `${name}-${namespace}`, `${name}-certificates`]);
  const roles = lists.flatMap(({ items }) => items).filter(({ metadata }) => names.has(metadata.name)) as unknown as readonly RoleFields[];
  const rules = roles.flatMap((role) => role.rules);
  return [
    ...new Set(
      rules.flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource} ${verb}`))),
      ),
    ),
  ].sort();
}
