import { KubernetesCluster } from "@isthmus/api";
import { kindKeyOf, type Resource } from "@isthmus/core";
import { type RegisteredCluster, registrationOf } from "./registrations.ts";

/** Notices when who is connected under a name may no longer be. */
export interface Disconnections {
  /** Why the stream of this registration's cluster must end; undefined when nothing speaks against it. */
  reasonOf(registration: Resource): string | undefined;
  /** The UID that a registration records; "" for none. */
  uidOf(registration: Resource): string;
  /** The same for a cluster that is revoked by another replica's word: nothing, where that is known already. */
  revoked(clusterName: string, before: number): string | undefined;
  /** Revoked clusters, as their registrations said last. */
  readonly revocations: ReadonlyMap<string, number>;
  forget(clusterName: string): void;
}

/** Compares each registration with what was last seen of it. Streams that come later are judged when they come. */
export function disconnections(): Disconnections {
  const seen = new Map<string, RegisteredCluster>();
  const revocations = new Map<string, number>();
  /** For which moment the streams of a cluster were ended. */
  const ended = new Map<string, number>();

  function revoked(clusterName: string, before: number): string | undefined {
    if (ended.get(clusterName) === before) return undefined;
    ended.set(clusterName, before);
    return `the certificates of ${clusterName} were revoked`;
  }

  return {
    uidOf: (registration) => (kindKeyOf(registration) === kindKeyOf(KubernetesCluster) ? registrationOf(registration).uid : ""),
    reasonOf(registration) {
      if (kindKeyOf(registration) !== kindKeyOf(KubernetesCluster)) return undefined;
      const { name } = registration.metadata;
      const before = seen.get(name);
      const now = registrationOf(registration);
      seen.set(name, now);
      if (now.revokedBefore === undefined) {
        revocations.delete(name);
        ended.delete(name);
      } else {
        revocations.set(name, now.revokedBefore);
        const reason = revoked(name, now.revokedBefore);
        if (reason !== undefined) return reason;
      }
      if (before !== undefined && before.uid !== "" && before.uid !== now.uid) return `another cluster has taken the name ${name}`;
      return undefined;
    },
    revoked,
    revocations,
    forget(clusterName) {
      for (const known of [seen, revocations, ended]) known.delete(clusterName);
    },
  };
}
