import { deliveredKinds } from "@isthmus/api";
import { type OwnershipConflict, ownershipConflict, type Report, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import { type Delivery, networkingOwner, refusalReports, type Translation } from "@isthmus/translators";

/** What agents would not write, because the input has an object of the same name that is somebody else's. */
export interface RefusedOutputs {
  /** Of generated objects, by `resourceKeyOf`. */
  readonly conflicts: ReadonlyMap<string, OwnershipConflict>;
  /** The same, as statuses follow from it. */
  readonly delivery: Delivery;
  readonly reports: readonly Report[];
}

/** Compares what is generated with the objects of clusters in the input, by the rule and in the words of agents. */
export function refusedOutputs(world: Translation, resources: readonly Resource[], namespace: string): RefusedOutputs {
  const owners = [networkingOwner(namespace)];
  const kinds = new Set(deliveredKinds().map(({ kind }) => kind));
  const conflicts = new Map<string, OwnershipConflict>();
  for (const existing of resources) {
    if (!kinds.has(existing.kind) || (existing.metadata.clusterName ?? "") === "") continue;
    const key = resourceKeyOf(refOf(existing));
    const desired = world.networking.at(key)?.resource;
    const conflict = desired && ownershipConflict(existing, { desired, owners });
    if (conflict !== undefined) conflicts.set(key, conflict);
  }
  return {
    conflicts,
    delivery: { isOffline: true, stateOf: (ref) => conflicts.get(resourceKeyOf(ref)) ?? "pending" },
    reports: refusalReports(world, conflicts),
  };
}
