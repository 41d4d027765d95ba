import type { ResourceRef } from "./ref.ts";
import type { Resource } from "./resource.ts";

/** What changed: objects to put (whole), and names of objects that are gone. */
export interface Delta {
  readonly put: readonly Resource[];
  readonly remove: readonly ResourceRef[];
}

export const emptyDelta: Delta = { put: [], remove: [] };

/** Whether a delta changes nothing. */
export function isEmpty(delta: Delta): boolean {
  return delta.put.length === 0 && delta.remove.length === 0;
}
