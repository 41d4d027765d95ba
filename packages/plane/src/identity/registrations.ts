import { KubernetesCluster, Settings, settingsInForce } from "@isthmus/api";
import { kindKeyOf, UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import type { Informer } from "../informer/informer.ts";
import { nameRecord } from "./nameRecord.ts";

/** Annotation on a KubernetesCluster, a time in RFC 3339: certificates from before it are revoked, and the shared token no longer admits the cluster. */
export const REVOKED_BEFORE = "isthmus.mesh/revoked-before";

/** Annotation on a KubernetesCluster: each new value lets, once, a cluster with another UID have the name. */
export const REPLACE = "isthmus.mesh/replace";

/** Annotation on a KubernetesCluster that a registration made: the SHA-256 of the public key that asked for it. It may ask again, when the answer got lost. */
const REGISTERED_KEY = "isthmus.mesh/registered-key";

/** What is recorded of a cluster: the same shape as the relay's own `Registered`. */
export interface RegisteredCluster {
  readonly uid: string;
  /** Milliseconds since 1970. */
  readonly revokedBefore?: number;
  readonly isReplaceable: boolean;
  readonly key?: string;
}

/** A cluster to be recorded: the same shape as the relay's own `NewRegistration`. */
export interface NewClusterRegistration {
  readonly clusterName: string;
  readonly clusterUid: string;
  /** An operator has asked for this very cluster. */
  readonly isExpected: boolean;
  readonly key?: string;
}

/** Which cluster has which name: KubernetesCluster objects record the UID of the cluster that registered under their name. */
export interface ClusterRegistrations {
  /** What the management cluster says of a name now; undefined when there is no such cluster. */
  find(clusterName: string, signal?: AbortSignal): Promise<RegisteredCluster | undefined>;
  /** The same from what has been watched and what other replicas say; asks only as long as nothing has been watched. */
  lastKnown(clusterName: string): Promise<RegisteredCluster | undefined>;
  /**
   * Records a name and its UID; creates the KubernetesCluster when absent. Rejects with ClusterError `Conflict` when another
   * UID is recorded and no operator lets it go, and with UsageError when `Settings` want clusters to be known before and
   * nobody has asked for this one (`isExpected`).
   */
  register(registration: NewClusterRegistration): Promise<void>;
  /** Keeps the name, and its UID, beyond the life of its KubernetesCluster. */
  remember(registration: Pick<NewClusterRegistration, "clusterName" | "clusterUid">): Promise<void>;
  /** Whether a name has ever been registered, or that cannot be known any more, and under which other names a UID has. */
  past(
    clusterName: string,
    uid: string,
  ): Promise<{ readonly wasRegistered: boolean; readonly others: readonly { readonly name: string; readonly isRegistered: boolean }[] }>;
  /** What `Settings` let the shared token open. */
  sharedTokenOpens(): Promise<"NEW_NAMES" | "ANY_NAME">;
}

export interface ClusterRegistrationsOptions {
  readonly namespace: string;
  /** Where KubernetesClusters are watched; without it every question goes to the API server. */
  readonly view?: () => Informer;
  /** From before which moment certificates of a cluster do not count, by the word of other replicas. Default: there are none. */
  readonly revokedBefore?: (clusterName: string) => number | undefined;
}

/**
 * Registrations in `namespace` of `cluster`, the management cluster. Methods reject with ClusterError where the API server does not answer
 * or refuses.
 */
export function clusterRegistrations(
  cluster: Cluster,
  { namespace, view, revokedBefore = () => undefined }: ClusterRegistrationsOptions,
): ClusterRegistrations {
  const { apiVersion, kind } = KubernetesCluster;
  const record = nameRecord(cluster, { namespace });

  async function find(clusterName: string, signal?: AbortSignal): Promise<RegisteredCluster | undefined> {
    const found = await cluster.get(KubernetesCluster, { name: clusterName, namespace }, signal);
    return found === undefined ? undefined : registrationOf(found);
  }

  async function create({ clusterName, isExpected, key }: NewClusterRegistration): Promise<void> {
    if (!isExpected && (await relaySettings())?.registration === "KNOWN_CLUSTERS") {
      throw new UsageError(
        `the Settings (spec.relay.registration) allow only known clusters to register: create a join token for it with ` +
          `"meshctl cluster token create --cluster ${clusterName}" or, without client certificates, the KubernetesCluster ${clusterName} in namespace ${namespace}`,
      );
    }
    const annotations = key === undefined ? {} : { annotations: { [REGISTERED_KEY]: key } };
    try {
      await cluster.create({ apiVersion, kind, metadata: { name: clusterName, namespace, ...annotations }, spec: {} } as KubernetesCluster);
    } catch (error) {
      // Registered through another replica, or by a user, a moment ago.
      if (!(error instanceof ClusterError && error.code === "AlreadyExists")) throw error;
    }
  }

  async function relaySettings() {
    const settings = await cluster.get(Settings, { name: "settings", namespace });
    return settings && settingsInForce(settings).spec?.relay;
  }

  /** For the cluster of a name, perhaps after another. */
  async function writeUid(clusterName: string, uid: string, existing: KubernetesCluster | undefined): Promise<void> {
    if ((existing?.status?.clusterUid ?? "") !== "" && existing !== undefined && registrationOf(existing).isReplaceable) {
      // In the very version that allows it: of two newcomers one comes first, and the permission is used up.
      const replaced = existing.metadata.annotations?.[REPLACE];
      await cluster.updateStatus({ ...existing, status: { ...existing.status, clusterUid: uid, replaced } });
      return;
    }
    // Without force: where another cluster was faster, its UID stands and this one is refused.
    await cluster.applyStatus(
      { apiVersion, kind, metadata: { name: clusterName, namespace }, status: { clusterUid: uid } },
      { fieldManager: `gloo-mesh-registration-${uid}` },
    );
  }

  return {
    find,
    async lastKnown(clusterName) {
      const watched = view?.();
      const state = watched?.kinds.get(kindKeyOf(KubernetesCluster));
      if (watched === undefined || state === undefined || state === "unknown" || state === "unserved") return find(clusterName);
      const found = watched.snapshot.of(KubernetesCluster).get({ name: clusterName, namespace, clusterName: "" });
      if (found === undefined) return undefined;
      const known = registrationOf(found);
      const told = revokedBefore(clusterName);
      return told === undefined ? known : { ...known, revokedBefore: Math.max(told, known.revokedBefore ?? told) };
    },
    async past(clusterName, uid) {
      const { uids, isFull } = await record.read();
      const names = [...uids].filter(([name, of]) => of === uid && name !== clusterName).map(([name]) => name);
      const others = await Promise.all(names.map(async (name) => ({ name, isRegistered: (await find(name))?.uid === uid })));
      return {
        wasRegistered: isFull || uids.has(clusterName),
        others: others.sort((a, b) => Number(b.isRegistered) - Number(a.isRegistered)),
      };
    },
    async sharedTokenOpens() {
      return (await relaySettings())?.sharedToken ?? "NEW_NAMES";
    },
    async register(registration) {
      const { clusterName, clusterUid } = registration;
      const existing = await cluster.get(KubernetesCluster, { name: clusterName, namespace });
      if (existing === undefined) await create(registration);
      await writeUid(clusterName, clusterUid, existing);
    },
    remember: ({ clusterName, clusterUid }) => record.add(new Map([[clusterName, clusterUid]])),
  };
}

/** What a KubernetesCluster says of a registration. */
export function registrationOf({ metadata: { annotations = {} }, status = {} }: KubernetesCluster): RegisteredCluster {
  const replace = annotations[REPLACE];
  const uid = status.clusterUid ?? "";
  const key = annotations[REGISTERED_KEY];
  const isReplaceable = replace !== undefined && replace !== status.replaced;
  return { uid, ...revocationOf(annotations[REVOKED_BEFORE]), isReplaceable, ...(key === undefined ? {} : { key }) };
}

/** Whether `Settings` let a holder of the shared token take any name, as far as they are watched. */
export function areNamesOpen({ snapshot }: Pick<Informer, "snapshot">, namespace: string): boolean {
  const settings = snapshot.of(Settings).get({ name: "settings", namespace, clusterName: "" });
  return settings !== undefined && settingsInForce(settings).spec?.relay?.sharedToken === "ANY_NAME";
}

/** The last moment that a date can name, in milliseconds since 1970. */
export const END_OF_TIME = 8_640_000_000_000_000;

/** Whole seconds, as certificates count in them. What cannot be read revokes everything: the one who wrote it meant to. */
export function revocationOf(annotation: string | undefined): { readonly revokedBefore?: number } {
  if (annotation === undefined) return {};
  const time = Date.parse(annotation);
  return { revokedBefore: Number.isNaN(time) ? END_OF_TIME : Math.floor(time / 1000) * 1000 };
}
