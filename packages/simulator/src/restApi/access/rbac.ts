import { type Members, membersAt } from "../../apply/json.ts";
import type { SimulatedState } from "../../state.ts";
import { listIn } from "../validation/podSpec.ts";
import type { User } from "./users.ts";

/** What somebody asks to do. */
export interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Of requests for no resource. */
  readonly path: string | undefined;
}

export interface Decision {
  readonly allowed: boolean;
  readonly reason: string;
}

const RBAC = "rbac.authorization.k8s.io/v1";

/** Whether a user may do something, by the roles of the cluster. Source: plugin/pkg/auth/authorizer/rbac of Kubernetes. */
export function authorized(state: SimulatedState, user: User, asked: Attributes): Decision {
  if (user.groups.includes("system:masters")) return { allowed: true, reason: "" };
  for (const { rule, reason } of rulesFor(state, user, asked.namespace)) if (isCovered(rule, asked)) return { allowed: true, reason };
  return { allowed: false, reason: "" };
}

interface BoundRule {
  readonly rule: Members;
  readonly reason: string;
}

/** The rules that apply to a user: those of the cluster, and of one namespace. */
function* rulesFor(state: SimulatedState, user: User, namespace: string): Generator<BoundRule> {
  for (const binding of objectsOf(state, "ClusterRoleBinding", undefined)) {
    if (!isSubject(binding, user, "")) continue;
    const ref = membersAt(binding, "roleRef");
    for (const rule of rulesIn(state, ref, "")) yield { rule, reason: reasonOf("ClusterRoleBinding", binding, ref, user) };
  }
  if (namespace === "") return;
  for (const binding of objectsOf(state, "RoleBinding", namespace)) {
    if (!isSubject(binding, user, namespace)) continue;
    const ref = membersAt(binding, "roleRef");
    for (const rule of rulesIn(state, ref, namespace)) yield { rule, reason: reasonOf("RoleBinding", binding, ref, user) };
  }
}

function reasonOf(kind: string, binding: Members, ref: Members, user: User): string {
  const { name, namespace } = membersAt(binding, "metadata");
  const place = kind === "RoleBinding" ? `${String(name)}/${String(namespace)}` : String(name);
  const subject = listIn(binding, "subjects").find((each) => isOne(each, user, String(namespace ?? "")));
  const who =
    subject === undefined
      ? ""
      : ` to ${String(subject["kind"])} ${JSON.stringify(subject["kind"] === "ServiceAccount" ? `${String(subject["name"])}/${String(subject["namespace"])}` : subject["name"])}`;
  return `RBAC: allowed by ${kind} ${JSON.stringify(place)} of ${String(ref["kind"])} ${JSON.stringify(ref["name"])}${who}`;
}

function objectsOf(state: SimulatedState, kind: string, namespace: string | undefined): readonly Members[] {
  const { store } = state.served({ apiVersion: RBAC, kind });
  return [...store.in(namespace)].map(({ resource }) => resource as Members);
}

function rulesIn(state: SimulatedState, ref: Members, namespace: string): readonly Members[] {
  const kind = String(ref["kind"]);
  const role = state.find({ apiVersion: RBAC, kind, namespace: kind === "Role" ? namespace : "", name: String(ref["name"]) });
  return role === undefined ? [] : listIn(role, "rules");
}

function isSubject(binding: Members, user: User, namespace: string): boolean {
  return listIn(binding, "subjects").some((subject) => isOne(subject, user, namespace));
}

function isOne({ kind, name, namespace: place }: Members, user: User, namespace: string): boolean {
  if (kind === "User") return name === user.name;
  if (kind === "Group") return user.groups.includes(String(name));
  return kind === "ServiceAccount" && user.name === `system:serviceaccount:${String(place ?? namespace)}:${String(name)}`;
}

function isCovered(rule: Members, { verb, group, resource, subresource, name, path }: Attributes): boolean {
  const has = (field: string, value: string) => {
    const list = rule[field];
    return Array.isArray(list) && (list.includes("*") || list.includes(value));
  };
  if (!has("verbs", verb)) return false;
  if (path !== undefined) {
    const urls = rule["nonResourceURLs"];
    return (
      Array.isArray(urls) &&
      urls.some((url) => url === "*" || url === path || (String(url).endsWith("*") && path.startsWith(String(url).slice(0, -1))))
    );
  }
  if (!has("apiGroups", group)) return false;
  const whole = subresource === "" ? resource : `${resource}/${subresource}`;
  if (!has("resources", whole) && !(subresource !== "" && has("resources", `*/${subresource}`) && !has("resources", "\u0000")))
    return false;
  const names = rule["resourceNames"];
  return !Array.isArray(names) || names.length === 0 || names.includes(name);
}

/** Rules in the form of reviews: of resources, and of URLs. */
export function reviewedRules(
  state: SimulatedState,
  user: User,
  namespace: string,
): { readonly resourceRules: readonly Members[]; readonly nonResourceRules: readonly Members[] } {
  const rules = [...rulesFor(state, user, namespace)].map(({ rule }) => rule);
  const all = rules;
  const isUrl = (rule: Members) => Array.isArray(rule["nonResourceURLs"]) && rule["nonResourceURLs"].length > 0;
  return {
    resourceRules: all.filter((rule) => !isUrl(rule)),
    nonResourceRules: all.filter(isUrl).map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
  };
}

/** A refusal as API servers word it. */
export function refusalText(user: User, { verb, group, resource, subresource, namespace, path }: Attributes): string {
  if (path !== undefined) return `User ${JSON.stringify(user.name)} cannot ${verb} path ${JSON.stringify(path)}`;
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return `User ${JSON.stringify(user.name)} cannot ${verb} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`;
}
