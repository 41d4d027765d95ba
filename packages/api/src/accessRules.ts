import { groupOf, type Kind } from "@isthmus/core";
import { Namespace } from "./kubernetes/namespace.ts";
import { Pod } from "./kubernetes/pod.ts";
import { agentKinds, answeredKinds, computedKinds, contributedKinds, deliveredKinds, onDemandKinds, ownWrittenKinds } from "./roles.ts";

/** One rule of a role: each verb with its reason. */
export interface AccessRule {
  readonly about: string;
  readonly apiGroup: string;
  readonly resources: readonly string[];
  /** Narrows the verbs to objects of these names; a list or watch then names one of them. */
  readonly resourceNames?: readonly string[];
  readonly verbs: Readonly<Record<string, string>>;
}

/** Why kinds that are watched are read. */
export const READ_REASONS = {
  list: "the state at the start, and after a watch has expired",
  watch: "changes as they happen",
};

/** Why kinds that are written are read: an object is looked up again right before, as a watch may be a moment late. */
export const READ_BEFORE_WRITING_REASONS = { get: "read again right before a write: what is not ours is never changed", ...READ_REASONS };

/** Why what the plane asks for is written in each of these ways. */
export const WRITE_REASONS = {
  create: "first write of an object; unlike apply, it never joins an object that somebody else creates at the same moment",
  update: "hands the fields of a created object over to server-side apply, once",
  patch: "server-side apply of changes",
  delete: "only objects with our owner label and field manager, with UID and resourceVersion as preconditions",
};

/** Why an agent writes what it has found. */
const OWN_WRITE_REASONS = {
  get: "read again right before it is deleted: what is not ours is never deleted",
  create: "server-side apply of what was found first",
  patch: "server-side apply of changes",
  delete: "only what we have made, with UID and resourceVersion as preconditions",
};

/** Why statuses are patched. */
export const STATUS_REASONS = { patch: "server-side apply of the status alone" };

/** The UID of a cluster. */
export const CLUSTER_UID_RULE: AccessRule = {
  about: "the UID of kube-system, which identifies the cluster",
  apiGroup: "",
  resources: [Namespace.plural],
  resourceNames: ["kube-system"],
  verbs: { get: "once at the start" },
};

/** What a cluster serves. */
export const SERVED_KINDS_RULE: AccessRule = {
  about: "which kinds the cluster serves, and since when not",
  apiGroup: "apiextensions.k8s.io",
  resources: ["customresourcedefinitions"],
  verbs: READ_REASONS,
};

/** Whether an agent for certificates is alive. */
const AGENT_LEASE_RULE: AccessRule = {
  about: "whether the agent for certificates is there",
  apiGroup: "coordination.k8s.io",
  resources: ["leases"],
  resourceNames: ["gloo-mesh-agent", "enterprise-agent"],
  verbs: { get: "what it said last counts as long as it renews its Lease" },
};

/** What an agent needs that looks after certificates alone, beside what all agents need for them: `own` in its namespace. */
export function certificateAgentRules(): { readonly everywhere: readonly AccessRule[]; readonly own: readonly AccessRule[] } {
  const requested = computedKinds().filter((kind) => !deliveredKinds().includes(kind));
  const orders = computedKinds().filter((kind) => deliveredKinds().includes(kind));
  return {
    everywhere: [...accessRulesOn([Pod], "which pods have a proxy, and since when", { list: "read for each step" }), SERVED_KINDS_RULE],
    own: [
      ...accessRulesOn(orders, "orders of the management server", { get: "who has written it", ...READ_REASONS }),
      ...accessRulesOn(orders, "what became of orders", STATUS_REASONS, "/status"),
      ...accessRulesOn(requested, "requests for certificates", {
        ...READ_REASONS,
        create: "server-side apply of the first request",
        patch: "server-side apply of changes",
        delete: "its own, when it is answered, with UID and resourceVersion as preconditions",
      }),
    ],
  };
}

/**
 * What is needed in a workload cluster by its agent, or by a server that connects to it directly, from the table of kinds: an agent
 * never writes what it computes. Writes are apart, so that they can be granted in some namespaces only.
 */
export function workloadClusterRules(by: "agent" | "server"): {
  readonly read: readonly AccessRule[];
  readonly write: readonly AccessRule[];
} {
  const computed = by === "agent" ? computedKinds() : [];
  const delivered = deliveredKinds().filter((kind) => !computed.includes(kind));
  const own = by === "agent" ? ownWrittenKinds() : [];
  const answered = by === "agent" ? [...own, ...answeredKinds()] : [];
  // What an agent for certificates alone asks of a server that connects to its cluster.
  const asked = by === "server" ? computedKinds().filter((kind) => !delivered.includes(kind)) : [];
  const reported = [...agentKinds(), ...contributedKinds()].filter((kind) => !delivered.includes(kind));
  return {
    read: [
      CLUSTER_UID_RULE,
      ...accessRulesOn(reported, "reported to the management server", READ_REASONS),
      ...accessRulesOn(onDemandKinds(), "counted, and reported to the management server, as far as the Settings ask for it", READ_REASONS),
      ...accessRulesOn(delivered, "applied for the management server; conflicts are found before", READ_BEFORE_WRITING_REASONS),
      ...accessRulesOn(contributedKinds(), "statuses of user resources in this cluster", STATUS_REASONS, "/status"),
      ...accessRulesOn(answered, "statuses of what the agent looks for and finds", STATUS_REASONS, "/status"),
      ...accessRulesOn(asked, "what the agent for certificates requests", READ_REASONS),
      ...accessRulesOn(asked, "certificates that were signed", STATUS_REASONS, "/status"),
      ...(by === "server" ? [AGENT_LEASE_RULE] : []),
      SERVED_KINDS_RULE,
    ],
    write: [
      ...accessRulesOn(delivered, "applied for the management server", WRITE_REASONS),
      ...accessRulesOn(own, "what the agent has found in its cluster", OWN_WRITE_REASONS),
    ],
  };
}

/** One rule for each API group, in the order of the table. */
export function accessRulesOn(kinds: readonly Kind[], about: string, verbs: AccessRule["verbs"], subresource = ""): readonly AccessRule[] {
  const groups = new Map<string, string[]>();
  for (const { apiVersion, plural } of kinds) {
    const group = groupOf(apiVersion);
    groups.set(group, [...(groups.get(group) ?? []), `${plural}${subresource}`]);
  }
  return [...groups].map(([apiGroup, resources]) => ({ about, apiGroup, resources, verbs }));
}
