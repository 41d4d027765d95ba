import { kindKeyOf, type OutputSet, type Resource, type ResourceRef, refOf, resourceKeyOf, type Snapshot } from "@isthmus/core";
import type { Evidence } from "../ports.ts";

/** The outputs for one cluster by `resourceKeyOf`, as the link and the applier take them. */
export function wantedIn(outputs: OutputSet, clusterName: string): ReadonlyMap<string, Resource> {
  const wanted = new Map<string, Resource>();
  for (const { resource } of outputs.inCluster(clusterName)) wanted.set(resourceKeyOf(refOf(resource)), resource);
  return wanted;
}

/** Why an output of an earlier translation is no longer wanted: which of its parents are gone, or else that they changed their mind. */
export function evidenceFor(ref: ResourceRef, before: OutputSet | undefined, now: Snapshot): Evidence {
  const parents = before?.get(ref)?.parents ?? [];
  const gone = parents.filter((parent) => !isKnown(parent, now));
  if (gone.length > 0) return { reason: "InputRemoved", inputs: gone };
  // Without parents the object itself stands for its cause: nothing in the whole input asks for it.
  return { reason: "InputChanged", inputs: parents.length > 0 ? parents : [ref] };
}

function isKnown(ref: ResourceRef, snapshot: Snapshot): boolean {
  return snapshot.collections().get(kindKeyOf(ref))?.get(ref) !== undefined;
}

/** What a publisher has to do to go from one set of outputs to the next; unchanged outputs are recognised by identity. */
export function changesBetween(
  before: ReadonlyMap<string, Resource>,
  after: ReadonlyMap<string, Resource>,
): { readonly put: readonly Resource[]; readonly remove: readonly ResourceRef[] } {
  const put = [...after].filter(([key, resource]) => before.get(key) !== resource).map(([, resource]) => resource);
  const remove = [...before].filter(([key]) => !after.has(key)).map(([, resource]) => refOf(resource));
  return { put, remove };
}
