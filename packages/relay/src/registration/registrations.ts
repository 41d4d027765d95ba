/** What is recorded of a cluster. */
export interface Registered {
  /** UID of the cluster's namespace kube-system; "": no agent has registered under this name yet. */
  readonly uid: string;
  /** Certificates that count from before this moment are revoked, and the shared token no longer admits the cluster. Milliseconds since 1970. */
  readonly revokedBefore?: number;
  /** An operator lets another cluster have this name. */
  readonly isReplaceable?: boolean;
}

/** Which cluster is registered under which name. */
export interface Registrations {
  /** What is recorded of a name now. Undefined: there is no such cluster. */
  find(clusterName: string): Promise<Registered | undefined>;
  /** The same as last heard of, without asking anybody where that can be avoided: for the many connections of a fleet. */
  recall(clusterName: string): Promise<Registered | undefined>;
  /** Records a name and its UID. Rejects when another UID came first, and with UsageError when settings forbid new clusters. `isExpected`: an operator has asked for this very cluster. */
  register(clusterName: string, uid: string, isExpected: boolean): Promise<void>;
}
