import type { Authorizer } from "@isthmus/plane/ports";
import { ClusterError } from "@isthmus/plane/ports";
import { type Connection, type ConnectionOptions, connectionTo } from "./connection.ts";
import { call } from "./request.ts";

/**
 * Asks an API server who bears a token, and what that user may do: TokenReview, then SubjectAccessReview. The program's
 * own account needs the cluster role `system:auth-delegator`.
 */
export function kubernetesAuthorizer(
  options: Pick<ConnectionOptions, "kubeconfig" | "clock"> & { readonly silenceMs?: number },
): Authorizer {
  const connection = connectionTo({ silenceMs: 5_000, ...options });
  return {
    async authorize({ token, path, audience, isEncrypted }, signal) {
      const made = await tokenReview(connection, { token, audiences: [audience] }, signal);
      // An API server that knows no audiences takes any token, and names none: then nothing says what it was made for.
      const isMadeFor = made.authenticated === true && made.audiences?.includes(audience) === true;
      const ordinary = isMadeFor || !isEncrypted ? undefined : await tokenReview(connection, { token }, signal);
      const { authenticated = false, user, error } = ordinary ?? made;
      if (!(isMadeFor || (isEncrypted && authenticated)) || user === undefined) {
        const what = isEncrypted ? "accept this token" : `accept this token for the audience ${audience}`;
        const why = error ? `: ${error}` : "";
        const remedy = isEncrypted
          ? ""
          : `; over plain HTTP no other audience is accepted, because an eavesdropper could use the token for the API server: kubectl create token NAME --audience=${audience}`;
        return { allowed: false, isKnown: false, reason: `the Kubernetes API does not ${what}${why}${remedy}` };
      }
      const { allowed, reason } = await accessReview(connection, { user, path }, signal);
      if (allowed) return { allowed: true };
      const why = reason ? ` (${reason})` : "";
      return {
        allowed: false,
        isKnown: true,
        reason: `${user.username} is not allowed to get ${path}${why}: bind it to a ClusterRole with nonResourceURLs ["${path}"] and verbs ["get"]`,
      };
    },
  };
}

interface User {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

interface TokenReviewStatus {
  readonly authenticated?: boolean;
  readonly user?: User;
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

async function accessReview(
  connection: Connection,
  { user: { username, uid, groups, extra }, path }: { readonly user: User; readonly path: string },
  signal: AbortSignal | undefined,
): Promise<{ readonly allowed?: boolean; readonly reason?: string }> {
  const spec = { user: username, uid, groups, extra, nonResourceAttributes: { path, verb: "get" } };
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };
  return statusOf(await call(connection, { method: "POST", path: "/apis/authorization.k8s.io/v1/subjectaccessreviews", body }, signal));
}

function statusOf<S>(review: unknown): S {
  const { status } = review as { readonly status?: S };
  if (status === undefined) throw new ClusterError("Unavailable", "the API server returned a review without a status");
  return status;
}
