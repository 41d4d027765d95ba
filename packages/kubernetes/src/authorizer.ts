import type { Authorizer } from "@isthmus/ports";
import { type AccessReviewOptions, accessReview, bearerOf } from "./accessReviews.ts";
import { connectionTo } from "./connection.ts";

/**
 * Asks an API server who bears a token, and what that user may do: TokenReview, then SubjectAccessReview. The program's
 * own account needs the cluster role `system:auth-delegator`.
 */
export function kubernetesAuthorizer(options: AccessReviewOptions): Authorizer {
  const connection = connectionTo({ silenceMs: 5_000, ...options });
  return {
    async authorize({ path, ...question }, signal) {
      const bearer = await bearerOf(connection, question, signal);
      if ("refused" in bearer) return { allowed: false, isKnown: false, reason: bearer.refused };
      const { user } = bearer;
      const { allowed, reason } = await accessReview(connection, { user, of: { nonResourceAttributes: { path, verb: "get" } } }, signal);
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
