import type { VirtualDestination } from "@isthmus/api";
import { type ClusterObjectRef, keyOf } from "@isthmus/core";

/** Where a VirtualDestination is looked for that a policy names without its cluster: in the policy's own, then in the management cluster. */
export function virtualDestinationKeys({ name, namespace, clusterName }: ClusterObjectRef): readonly string[] {
  return [...new Set([clusterName, ""])].map((place) => keyOf({ name, namespace, clusterName: place }));
}

/** The VirtualDestination that a policy names. */
export function firstOf(ref: ClusterObjectRef, lookup: (key: string) => VirtualDestination | undefined): VirtualDestination | undefined {
  return virtualDestinationKeys(ref).flatMap((key) => lookup(key) ?? [])[0];
}
