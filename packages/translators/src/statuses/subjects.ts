import { AccessPolicy, Destination, TrafficPolicy } from "@isthmus/api";
import { keyOfResource, type Report } from "@isthmus/core";
import type { World } from "../translate.ts";
import { type UserRef, userKeyOf } from "../userResources.ts";

/** Everything known of users' resources, by `userKeyOf`. */
export interface Subjects {
  /** Findings, in the order in which they were made. */
  readonly reports: ReadonlyMap<string, readonly Report[]>;
  /** For a policy, by the key of a Destination on which it is in force, its place among the policies there. */
  readonly orders: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** For a VirtualMesh, the keys of the Destinations that it would federate. */
  readonly federated: ReadonlyMap<string, readonly string[]>;
}

/** Gathers findings and what is in force by the users' resources they are about. */
export function subjectsOf({ attached, memory }: World, reports: readonly Report[]): Subjects {
  const bySubject = new Map<string, Report[]>();
  for (const report of reports) push(bySubject, userKeyOf(report.subject), report);

  const orders = new Map<string, Map<string, number>>();
  const note = (kind: string, destinationKey: string, policies: readonly AppliedPolicy[]) => {
    policies.forEach(({ ref }, position) => {
      const key = userKeyOf({ kind, ...ref });
      const places = orders.get(key) ?? new Map<string, number>();
      orders.set(key, places.set(destinationKey, position));
    });
  };
  for (const destination of attached.of(Destination)) {
    const { appliedTrafficPolicies = [], appliedAccessPolicies = [] } = destination.status ?? {};
    note(TrafficPolicy.kind, keyOfResource(destination), appliedTrafficPolicies);
    note(AccessPolicy.kind, keyOfResource(destination), appliedAccessPolicies);
  }

  const federated = new Map<string, string[]>();
  for (const destination of memory.attachment.known) {
    const ref = destination.status?.appliedFederation?.virtualMeshRef;
    if (ref !== undefined) push(federated, userKeyOf({ kind: "VirtualMesh", ...ref }), keyOfResource(destination));
  }
  return { reports: bySubject, orders, federated };
}

interface AppliedPolicy {
  readonly ref?: UserRef;
}

function push<V>(lists: Map<string, V[]>, key: string, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
