import type { KubernetesUser } from "@isthmus/ports";

/** Without what tells one token of a ServiceAccount from another: for audit logs, and no reason to be let in. Source: Kubernetes, KEP 4193. */
export function withoutCredential({ extra, ...user }: KubernetesUser): KubernetesUser {
  if (extra === undefined) return user;
  return {
    ...user,
    extra: Object.fromEntries(Object.entries(extra).filter(([name]) => name !== "authentication.kubernetes.io/credential-id")),
  };
}

/** Who is one to the Kubernetes API: what a webhook authorizer may look at counts, too. */
export function identityOf(user: KubernetesUser): string {
  const { username, uid, groups = [], extra = {} } = withoutCredential(user);
  const more = Object.entries(extra).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([username, uid, [...groups].sort(), more]);
}
