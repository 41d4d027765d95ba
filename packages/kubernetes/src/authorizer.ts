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
    async authorize({ token, path }, signal) {
      const { authenticated = false, user, error } = await tokenReview(connection, token, signal);
      if (!authenticated || user === undefined) {
        return { allowed: false, isKnown: false, reason: `the Kubernetes API does not know this token${error ? `: ${error}` : ""}` };
      }
      const { allowed, reason } = await accessReview(connection, { user, path }, signal);
      if (allowed) return { allowed: true };
      const why = reason ? ` (${reason})` : "";
      return {
        allowed: false,
        isKnown: true,
        reason: `${user.username} may not get ${path}${why}: bind a ClusterRole to it with nonResourceURLs ["${path}"] and verbs ["get"]`,
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
}

async function tokenReview(connection: Connection, token: string, signal: AbortSignal | undefined): Promise<TokenReviewStatus> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } };
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
  if (status === undefined) throw new ClusterError("Unavailable", "the API server answered a review without a status");
  return status;
}
