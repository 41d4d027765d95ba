import { intern } from "@isthmus/core";
import type { NamespaceLocation } from "./policyScope.ts";

/**
 * The index key of one object of a namespace, of one label pair there, and so on. The cluster comes last, as in the keys of rows: an
 * index is made, and looked up in by a first translation, in about the order that it has.
 */
export function keyIn(place: NamespaceLocation, key: string): string {
  return intern([key, place.namespace, place.clusterName].join("/"));
}
