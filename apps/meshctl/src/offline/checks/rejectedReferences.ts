import { type Report, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import { type TranslateOptions, type Translation, translate } from "@isthmus/translators";
import type { RejectedObject } from "../intake.ts";

// Each is another translation of what it refers to; who has so many has one mistake in all of them.
const MOST_REJECTED = 1_000;

/**
 * What rejected objects refer to that is not found, as it would be reported if the rest of them were right: all mistakes of an object are
 * reported at once. Nothing is generated from it.
 */
export function rejectedReferences(rejected: readonly RejectedObject[], world: Translation, options: TranslateOptions): readonly Report[] {
  const readable = rejected.flatMap((object) => object.readable ?? []).slice(0, MOST_REJECTED);
  if (readable.length === 0) return [];
  const subjects = new Set(readable.map((resource) => resourceKeyOf(refOf(resource))));
  const { reports } = translate(world.cache.given.apply({ put: readable, remove: [] }), options, world);
  const found = new Map<string, Report>();
  for (const { subject, state, code, message } of reports) {
    if (!REFERENCES.has(code) || !subjects.has(resourceKeyOf(subject))) continue;
    // On which destinations depends on the members that were left out.
    found.set(keyOf(subject, message), { subject, state, code, message });
  }
  return [...found.values()];
}

function keyOf(subject: ResourceRef, message: string): string {
  return `${resourceKeyOf(subject)}\n${message}`;
}

/** About one reference, whatever else the object says. */
const REFERENCES: ReadonlySet<string> = new Set([
  "DestinationRefIncomplete",
  "DestinationUnknown",
  "FederatedMeshUnknown",
  "MeshRefIncomplete",
  "MeshUnknown",
  "MirrorTargetUnknown",
  "SubsetUnknown",
  "TrafficShiftTargetUnknown",
]);
