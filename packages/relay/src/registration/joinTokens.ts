/** Tokens of which each lets one cluster in, once. Where they are kept, and how they look, is their keeper's affair. */
export interface JoinTokens {
  /** The token, when it is a join token that may be used for this cluster now; `problem` when its holder can be given a reason; undefined when it is none. */
  find(token: string, clusterName: string): Promise<JoinToken | { readonly problem: string } | undefined>;
}

/** A join token that is still good. */
export interface JoinToken {
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Uses it up, for all replicas. False: somebody else was faster. */
  use(): Promise<boolean>;
}
