import type { Clock, Delta, Kind, Log, Resource, ResourceRef } from "@isthmus/core";
import { kindKeyOf, refOf } from "@isthmus/core";
import type { Cluster, ServerLink, Store } from "@isthmus/ports";
import { disconnections } from "./disconnections.ts";
import { keepNames, nameRecord } from "./nameRecord.ts";
import { clusterRegistrations } from "./registrations.ts";
import { noRevocations, startRevocations } from "./revocations.ts";

/** Follows who is registered, and disconnects whose place is withdrawn. */
export interface Membership {
  /** Takes in what changed in the management cluster. */
  changed(delta: Delta): void;
  /** From before which moment certificates of a cluster do not count, by the word of other replicas. Milliseconds since 1970. */
  revokedBefore(clusterName: string): number | undefined;
  readonly ended: Promise<void>;
}

export interface MembershipOptions {
  /** The management cluster. */
  readonly cluster: Cluster;
  readonly namespace: string;
  /** The kind whose objects register clusters. */
  readonly registration: Kind;
  /** Where replicas tell each other of revocations. Undefined: there is no other. */
  readonly store: Store | undefined;
  readonly link: Pick<ServerLink, "disconnect">;
  /** A cluster is registered, perhaps as before. */
  readonly registered: (clusterName: string) => void;
  /** A cluster is no longer registered. */
  readonly removed: (clusterName: string) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** Records the names of registered clusters and, where there is a store, shares revocations through it, until `signal` is aborted. */
export function startMembership(options: MembershipOptions, signal: AbortSignal): Membership {
  const { cluster, namespace, registration, store, link, registered, removed, clock, random, log } = options;
  const withdrawn = disconnections();
  const names = keepNames({ record: nameRecord(cluster, { namespace }), clock, log }, signal);
  const { find } = clusterRegistrations(cluster, { namespace });

  function disconnect(clusterName: string, reason: string | undefined): void {
    if (reason !== undefined) link.disconnect(clusterName, reason);
  }

  const revocations =
    store === undefined
      ? noRevocations
      : startRevocations(
          {
            store,
            watched: () => withdrawn.revocations,
            ask: async (name, within) => (await find(name, within))?.revokedBefore,
            revoked: (name, before) => disconnect(name, withdrawn.revoked(name, before)),
            clock,
            random,
            log,
          },
          signal,
        );

  function isRegistration(ref: Pick<ResourceRef, "apiVersion" | "kind" | "namespace">): boolean {
    return kindKeyOf(ref) === kindKeyOf(registration) && ref.namespace === namespace;
  }

  function put(resource: Resource): void {
    const { name } = resource.metadata;
    registered(name);
    names.registered(name, withdrawn.uidOf(resource));
    const before = withdrawn.revocations.get(name);
    disconnect(name, withdrawn.reasonOf(resource));
    if (withdrawn.revocations.get(name) !== before) revocations.learned(name);
  }

  return {
    changed(delta) {
      for (const resource of delta.put) if (isRegistration(refOf(resource))) put(resource);
      for (const ref of delta.remove.filter(isRegistration)) {
        log.info({ cluster: ref.name }, `cluster ${ref.name} is no longer registered: deleting what was generated from it`);
        link.disconnect(ref.name, "the cluster is no longer registered", "Deregistered");
        const wasRevoked = withdrawn.revocations.has(ref.name);
        withdrawn.forget(ref.name);
        if (wasRevoked) revocations.learned(ref.name);
        removed(ref.name);
      }
    },
    revokedBefore: revocations.before,
    ended: Promise.all([revocations.ended, names.ended]).then(() => undefined),
  };
}
