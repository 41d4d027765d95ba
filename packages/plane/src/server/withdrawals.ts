import { KubernetesCluster } from "@isthmus/api";
import { kindKeyOf, type Resource } from "@isthmus/core";
import { type RegisteredCluster, registrationOf } from "./registrations.ts";

/** Notices when who is connected under a name may no longer be. */
export interface Withdrawals {
  /** Why the stream of this registration's cluster must end; undefined when nothing speaks against it. */
  reasonOf(registration: Resource): string | undefined;
  forget(clusterName: string): void;
}

/** Compares each registration with what was last seen of it. Streams that come later are judged when they come. */
export function withdrawals(): Withdrawals {
  const seen = new Map<string, RegisteredCluster>();
  return {
    reasonOf(registration) {
      if (kindKeyOf(registration) !== kindKeyOf(KubernetesCluster)) return undefined;
      const { name } = registration.metadata;
      const before = seen.get(name);
      const now = registrationOf(registration);
      seen.set(name, now);
      if (now.revokedBefore !== undefined && now.revokedBefore !== before?.revokedBefore) return `the certificates of ${name} were revoked`;
      if (before !== undefined && before.uid !== "" && before.uid !== now.uid) return `another cluster has taken the name ${name}`;
      return undefined;
    },
    forget: (clusterName) => void seen.delete(clusterName),
  };
}
