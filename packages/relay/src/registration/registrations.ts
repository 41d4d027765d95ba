/** What is recorded of a cluster. */
export interface Registered {
  /** UID of the cluster's namespace kube-system; "": no agent has registered under this name yet. */
  readonly uid: string;
  /** Certificates that count from before this moment are revoked, and the shared token no longer admits the cluster. Milliseconds since 1970. */
  readonly revokedBefore?: number;
  /** An operator lets another cluster have this name. */
  readonly isReplaceable?: boolean;
  /** The SHA-256 of the public key with which the name was first registered: its holder may register again. Undefined when it was recorded otherwise. */
  readonly key?: string;
}

/** What a name and a UID have been before. */
export interface RegistrationHistory {
  /** A cluster has registered under this name, whether or not it still is; also when that cannot be known any more. */
  readonly wasRegistered: boolean;
  /** Other names under which this UID has registered. */
  readonly others: readonly { readonly name: string; readonly isRegistered: boolean }[];
}

/** What the shared token alone opens: names that never registered, or any (Settings, spec.relay.sharedToken). */
export type SharedTokenOpens = "NEW_NAMES" | "ANY_NAME";

/** A cluster to be recorded. */
export interface NewRegistration {
  readonly clusterName: string;
  readonly clusterUid: string;
  /** An operator has asked for this very cluster. */
  readonly isExpected: boolean;
  /** As `Registered` has it. */
  readonly key?: string;
}

/** Which cluster is registered under which name. */
export interface Registrations {
  /** What is recorded of a name now. Undefined: there is no such cluster. */
  find(clusterName: string): Promise<Registered | undefined>;
  /** The same as last heard of, without asking anybody where that can be avoided: for the many connections of a fleet. */
  lastKnown(clusterName: string): Promise<Registered | undefined>;
  /** What was recorded before, also of clusters that are no longer registered. */
  past(clusterName: string, clusterUid: string): Promise<RegistrationHistory>;
  sharedTokenOpens(): Promise<SharedTokenOpens>;
  /** Records a name and its UID. Rejects when another UID came first, and with UsageError when settings forbid new clusters. */
  register(registration: NewRegistration): Promise<void>;
  /** Keeps for `past` what was registered. */
  remember(registration: Pick<NewRegistration, "clusterName" | "clusterUid">): Promise<void>;
}
