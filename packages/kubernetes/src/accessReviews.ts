import { type AccessReviews, ClusterError, type KubernetesUser, type TokenQuery } from "@isthmus/ports";
import { type Connection, type ConnectionOptions, connectionTo } from "./connection.ts";
import { call } from "./request.ts";

export type AccessReviewOptions = Pick<ConnectionOptions, "kubeconfig" | "clock"> & { readonly silenceMs?: number };

/**
 * Asks an API server who bears a token (TokenReview), and what a user may do (SubjectAccessReview). The program's own account needs the cluster role
 * `system:auth-delegator`.
 */
export function kubernetesAccessReviews(options: AccessReviewOptions): AccessReviews {
  const connection = connectionTo({ silenceMs: 5_000, ...options });
  return {
    whoBears: (question, signal) => bearerOf(connection, question, signal),
    async may(user, { verb, group, resource, namespace, name }, signal) {
      const resourceAttributes = { verb, group, resource, namespace, ...(name === undefined ? {} : { name }) };
      const { allowed } = await accessReview(connection, { user, of: { resourceAttributes } }, signal);
      return allowed === true;
    },
  };
}

/** Who bears a token, or why it does not count. */
export async function bearerOf(
  connection: Connection,
  { token, audience, isEncrypted }: TokenQuery,
  signal: AbortSignal | undefined,
): Promise<{ readonly user: KubernetesUser } | { readonly refused: string }> {
  const made = await tokenReview(connection, { token, audiences: [audience] }, signal);
  // An API server that knows no audiences takes any token, and names none: then nothing says what it was made for.
  const isMadeFor = made.authenticated === true && made.audiences?.includes(audience) === true;
  const ordinary = isMadeFor || !isEncrypted ? undefined : await tokenReview(connection, { token }, signal);
  const { authenticated = false, user, error } = ordinary ?? made;
  if ((isMadeFor || (isEncrypted && authenticated)) && user !== undefined) return { user };
  const what = isEncrypted ? "accept this token" : `accept this token for the audience ${audience}`;
  const why = error ? `: ${error}` : "";
  const remedy = isEncrypted
    ? ""
    : `; over plain HTTP no other audience is accepted, because an eavesdropper could use the token for the API server: kubectl create token NAME --audience=${audience}`;
  return { refused: `the Kubernetes API does not ${what}${why}${remedy}` };
}

interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: KubernetesUser;
  readonly error?: string;
  /** Those of the audiences in question that the token was made for; absent where the API server knows none. */
  readonly audiences?: readonly string[];
}

/** Without audiences: whether it was made for the API server itself. */
async function tokenReview(
  connection: Connection,
  spec: { readonly token: string; readonly audiences?: readonly string[] },
  signal: AbortSignal | undefined,
): Promise<TokenReviewStatus> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec };
  return statusOf(await call(connection, { method: "POST", path: "/apis/authentication.k8s.io/v1/tokenreviews", body }, signal));
}

/** Whether a user may do what `of` says. */
export async function accessReview(
  connection: Connection,
  { user: { username, uid, groups, extra }, of }: { readonly user: KubernetesUser; readonly of: object },
  signal: AbortSignal | undefined,
): Promise<{ readonly allowed?: boolean; readonly reason?: string }> {
  const spec = { user: username, uid, groups, extra, ...of };
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };
  return statusOf(await call(connection, { method: "POST", path: "/apis/authorization.k8s.io/v1/subjectaccessreviews", body }, signal));
}

function statusOf<S>(review: unknown): S {
  const { status } = review as { readonly status?: S };
  if (status === undefined) throw new ClusterError("Unavailable", "the API server returned a review without a status");
  return status;
}
