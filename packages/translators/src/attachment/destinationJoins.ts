import { type Destination, VirtualDestination } from "@isthmus/api";
import { keyOfResource, type Snapshot } from "@isthmus/core";
import type { RowSources } from "../incremental/derived.ts";
import { inputKind, inputTable, join } from "../incremental/join.ts";
import type { TranslationContext } from "../meshes/inputs.ts";
import { byService } from "../policy/indexes.ts";
import type { AttachedPolicies } from "./attachedPolicies.ts";
import type { Attachment } from "./attachment.ts";
import { asksForSubsetsOfService, bySubsetService, referredVirtualDestinationKeys } from "./policyReferences.ts";
import { bySubsetUsage, type SubsetUsers } from "./requiredSubsets.ts";

/** The tables from which targets and applied statuses follow. */
export interface AttachedSources {
  readonly inputs: Snapshot;
  readonly translationContext: TranslationContext;
  readonly attachment: Attachment;
}

/** Destinations whose statuses have the applied federation only. */
export const destinations = inputTable(({ attachment }: AttachedSources) => attachment.known, keyOfResource);
/** Of each Destination, what policies say of it. */
export const attachedPoliciesTable = inputTable(
  ({ attachment }: AttachedSources) => attachment.attachedPolicies,
  ({ key }) => key,
);
const trafficPolicies = inputTable(
  ({ attachment }: AttachedSources) => attachment.traffic,
  ({ key }) => key,
);
const supportsOfPolicies = inputTable(
  ({ attachment }: AttachedSources) => attachment.supports,
  ({ key }) => key,
);

/** Destination → its attached policies. */
export const attachedPoliciesJoin = join({ from: destinations, to: attachedPoliciesTable });

/** Destination → the TrafficPolicies that refer to a part of its pods. */
export const subsetPolicies = join({ from: destinations, key: byService, to: trafficPolicies, index: bySubsetService });

/** Destination → those policies → on how many Destinations they count; read is only whether that is none. */
export const supports = join({
  from: subsetPolicies.source,
  key: bySubsetUsage,
  to: supportsOfPolicies,
  isSame: (before, after) => before.inForce > 0 === after.inForce > 0,
});

/** The policies from which the required subsets of a Destination follow. */
export function subsetUsersIn(
  destination: Destination,
  lookup: RowSources<{ readonly subsetPolicies: typeof subsetPolicies; readonly supports: typeof supports }, unknown, unknown>["lookup"],
): SubsetUsers {
  const policies = lookup("subsetPolicies");
  const [service = ""] = byService(destination);
  return {
    subsetPolicies: policies,
    supports: policies.length === 0 ? NONE : lookup("supports"),
    isUser: (form) => asksForSubsetsOfService(form, service),
  };
}

const NONE: readonly never[] = [];

/** Destination → the policies in force on it → the VirtualDestinations that they may refer to, in key order. */
export const virtualDestinations = join({
  from: attachedPoliciesJoin.source,
  key: byReferredVirtualDestinations,
  to: inputKind<AttachedSources, VirtualDestination>(VirtualDestination),
});

function byReferredVirtualDestinations({ trafficPolicies }: AttachedPolicies): readonly string[] {
  return sortedUniqueKeys(trafficPolicies.flatMap(referredVirtualDestinationKeys));
}

/** Keys in order, without duplicates. */
export function sortedUniqueKeys(keys: readonly string[]): readonly string[] {
  return keys.length < 2 ? keys : [...new Set(keys)].sort();
}
