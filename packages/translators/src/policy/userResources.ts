import { userStatusKinds } from "@isthmus/api";
import { FIRST_SEEN, type Metadata, type Resource, refOf } from "@isthmus/core";
import { memoizeRow } from "../incremental/memoizeRow.ts";

/** Names a user's resource in statuses and annotations of other objects: with its cluster, where that is not the management cluster. */
export interface UserRef {
  readonly name: string;
  readonly namespace: string;
  readonly clusterName?: string;
}

/** How other objects name a user's resource. */
export function userRefOf({ metadata }: Pick<Resource, "metadata">): UserRef {
  const { name, namespace = "", clusterName = "" } = metadata;
  return { name, namespace, ...(clusterName === "" ? {} : { clusterName }) };
}

/** How old a user's resource of a workload cluster is: what repeats it elsewhere must do for it while its cluster is silent. */
export function creationOf({ metadata }: Pick<Resource, "metadata">): { readonly creationTimestamp?: string; readonly firstSeen?: string } {
  const { clusterName = "", creationTimestamp, annotations } = metadata;
  const firstSeen = annotations?.[FIRST_SEEN];
  if (clusterName === "") return {};
  return { ...(creationTimestamp === undefined ? {} : { creationTimestamp }), ...(firstSeen === undefined ? {} : { firstSeen }) };
}

/** `name.namespace`, or `name.namespace.cluster` in a workload cluster: for names of objects that are made of one user's resource. */
export function userNameOf({ name, namespace = "", clusterName = "" }: Metadata): string {
  return `${name}.${namespace}${clusterName === "" ? "" : `.${clusterName}`}`;
}

/** Names a policy: one object for all outputs that exist because of it. */
export const policyRefOf = memoizeRow((policy: Resource) => refOf(policy));

const USER_KINDS: ReadonlySet<string> = new Set(userStatusKinds().map(({ kind }) => kind));

/** Whether users ask something of us by what a reference names, so that its status answers. */
export function isUserRef({ kind }: { readonly kind: string }): boolean {
  return USER_KINDS.has(kind);
}

/** Names a user's resource among all that are of our kinds. */
export function userKeyOf(ref: Partial<UserRef> & { readonly kind: string }): string {
  const { kind, name = "", namespace = "", clusterName = "" } = ref;
  return `${kind}/${name}.${namespace}.${clusterName}`;
}
