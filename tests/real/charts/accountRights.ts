import { groupOf } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import type { ApiServer } from "../harness/apiServer.ts";
import { anyKind } from "../harness/clusters.ts";
import { requestTo, statusOf } from "../harness/requestTo.ts";
import { waitFor } from "../harness/waitFor.ts";

const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"] as const;
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
): Promise<{ readonly allowed: readonly string[]; readonly asked: number; readonly refused: readonly string[] }> {
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
  const known = new Set(allowed);
  return {
    allowed: allowed.filter((right) => !EVERYONE.test(right)).sort(),
    asked: questions.length,
    refused: questions.map(({ resource, verb }) => `${resource} ${verb}`).filter((right) => !known.has(right)),
  };
}

/**
 * Really tries a sample of what an account may not do in a namespace, with its token: each verb, and each resource at least once. Gives
 * how often it tried, and what was answered otherwise than by a refusal.
 */
export async function tryRefused(
  account: Account,
  namespace: string,
): Promise<{ readonly tried: number; readonly notRefused: readonly string[] }> {
  const types = new Map((await account.cluster.servedKinds()).map((type) => [`${groupOf(type.apiVersion)}/${type.plural}`, type]));
  const { refused } = await rightsIn(account, namespace);
  const resources = [...new Set(refused.map((right) => right.replace(/ .*/, "")))];
  // Another verb of each resource.
  const sample = resources.flatMap((resource, i) => {
    const rights = refused.filter((right) => right.startsWith(`${resource} `));
    return rights[i % rights.length] ?? [];
  });
  const answers = sample.map(async (right) => {
    const [resource = "", verb = ""] = right.split(" ");
    const [group = "", plural = "", subresource] = resource.split("/");
    const type = types.get(`${group}/${plural}`);
    if (type === undefined) throw new Error(`${resource} is not served`);
    const place = `${group === "" ? "/api" : "/apis"}/${type.apiVersion}${type.namespaced ? `/namespaces/${namespace}` : ""}/${plural}`;
    const { method, of, query = "" } = REQUESTS[verb as keyof typeof REQUESTS];
    const name = of === "object" || subresource !== undefined ? "/any" : "";
    const path = `${place}${name}${subresource === undefined ? "" : `/${subresource}`}${query}`;
    return { right, code: await statusOf({ ...account.server, kubeconfig: account.kubeconfig }, method, path) };
  });
  const others = (await Promise.all(answers)).filter(({ code }) => code !== FORBIDDEN);
  return { tried: sample.length, notRefused: others.map(({ right, code }) => `${right}: ${code}`) };
}

const FORBIDDEN = 403;

/** How each verb is asked for. */
const REQUESTS: Readonly<Record<(typeof VERBS)[number], { method: string; of: "object" | "list"; query?: string }>> = {
  get: { method: "GET", of: "object" },
  list: { method: "GET", of: "list" },
  watch: { method: "GET", of: "list", query: "?watch=1&timeoutSeconds=1" },
  create: { method: "POST", of: "list" },
  update: { method: "PUT", of: "object" },
  patch: { method: "PATCH", of: "object" },
  delete: { method: "DELETE", of: "object" },
  deletecollection: { method: "DELETE", of: "list" },
};

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
  const names = new Set([name, `${name}-${namespace}`, `${name}-certificates`, `${name}-writes`]);
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

export interface RightsComparison {
  readonly granted: readonly string[];
  /** Asked again until nothing differs: what Cilium has is counted at most once in 30 s, and so first watched by then. */
  readonly used: () => readonly string[];
  /** Why each of these is granted and not used. */
  readonly exceptions: Readonly<Record<string, string>>;
}

/** Fails after a minute with the rights that are granted and not used, but for exceptions; and with exceptions without need, as they are used or not granted. */
export async function rightsAreUsed(comparison: RightsComparison): Promise<void> {
  await waitFor(
    "each right to be used",
    () => {
      const differences = compareRights(comparison);
      if (differences.unused.length + differences.needless.length > 0) throw new Error(JSON.stringify(differences));
      return true;
    },
    { everyMs: 1_000 },
  );
}

function compareRights({ granted, used, exceptions }: RightsComparison): {
  readonly unused: readonly string[];
  readonly needless: readonly string[];
} {
  const now = new Set(used());
  const unused = granted.filter((right) => !now.has(right));
  return {
    unused: unused.filter((right) => exceptions[right] === undefined),
    needless: Object.keys(exceptions).filter((right) => !unused.includes(right)),
  };
}
