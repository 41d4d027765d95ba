import { type Index, type Kind, kindKeyOf, type Resource, type ResourceRef, refOf, resourceKeyOf, type Snapshot } from "@isthmus/core";
import { targetOf, type World } from "@isthmus/translators";
import type { Evidence } from "../ports.ts";
import { DISCOVERED_IN } from "./recalled.ts";

/**
 * Why an output of an earlier translation is no longer wanted: which of the objects that it was made of are gone, or else that
 * they changed. A Destination that is gone because its cluster's registration was deleted went on purpose: that is told too.
 */
export function evidenceFor(ref: ResourceRef, { before, now, registration }: EvidenceSources): Evidence {
  const parents = before === undefined ? [] : causesOf(ref, before);
  const gone = parents.filter((parent) => known(parent, now.attached) === undefined);
  if (gone.length > 0) return { reason: "InputRemoved", inputs: [...gone, ...withdrawn(gone, before, now, registration)] };
  // Without parents the object itself stands for its cause: nothing in the whole input asks for it.
  return { reason: "InputChanged", inputs: parents.length > 0 ? parents : [ref] };
}

export interface EvidenceSources {
  readonly before: World | undefined;
  readonly now: World;
  /** The kind whose objects register clusters. */
  readonly registration: Kind;
}

/** The parents of an output, and the target that it was translated for. */
function causesOf(ref: ResourceRef, before: World): readonly ResourceRef[] {
  const output = before.networking.get(ref) ?? before.discovery.get(ref);
  const target = targetOf(before, ref);
  const causes = [...(target === undefined ? [] : [target]), ...(output?.parents ?? [])];
  return [...new Map(causes.map((cause) => [resourceKeyOf(cause), cause])).values()];
}

/** The registrations that were deleted, of the clusters in which `gone` had been discovered. */
function withdrawn(gone: readonly ResourceRef[], before: World | undefined, now: World, registration: Kind): readonly ResourceRef[] {
  if (before === undefined) return [];
  const clusters = gone.map((ref) => known(ref, before.attached)?.metadata.labels?.[DISCOVERED_IN]).filter((name) => name !== undefined);
  return [...new Set(clusters)]
    .flatMap((name) => before.attached.of(registration).where(byName, name).map(refOf))
    .filter((ref) => known(ref, now.attached) === undefined);
}

const byName: Index<Resource> = ({ metadata }) => [metadata.name];

function known(ref: ResourceRef, snapshot: Snapshot): Resource | undefined {
  return snapshot.collections().get(kindKeyOf(ref))?.get(ref);
}
