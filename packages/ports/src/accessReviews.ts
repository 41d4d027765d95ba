/** A user as the Kubernetes API names it. Source: authentication.k8s.io/v1 TokenReview, `status.user`. */
export interface KubernetesUser {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What somebody would do with a resource. Source: authorization.k8s.io/v1 SubjectAccessReview, `spec.resourceAttributes`. */
export interface ResourceAccess {
  readonly verb: "get" | "list";
  /** "" is the core group. */
  readonly group: string;
  /** The plural, as in URLs. */
  readonly resource: string;
  /** "": in all namespaces, or of the cluster. */
  readonly namespace: string;
  /** Default: whatever the name. */
  readonly name?: string;
}

/** Who bears a token. */
export interface TokenQuery {
  readonly token: string;
  /** Whom the token must be made for, unless it came encrypted: then one for the API server itself will do. */
  readonly audience: string;
  readonly isEncrypted: boolean;
}

/** What the Kubernetes API says of users. */
export interface AccessReviews {
  /** Who bears the token, or why it does not count. Rejects with ClusterError when it cannot be asked. */
  whoBears(question: TokenQuery, signal?: AbortSignal): Promise<{ readonly user: KubernetesUser } | { readonly refused: string }>;
  /** Whether a user may. Rejects with ClusterError when it cannot be asked. */
  may(user: KubernetesUser, access: ResourceAccess, signal?: AbortSignal): Promise<boolean>;
}
