import { equalJson, type Report, type Resource, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import { type TranslateOptions, type Translation, translate } from "@isthmus/translators";
import { fieldOf } from "../findings.ts";
import { type Intake, memberAt } from "../intake.ts";
import { stepsOf } from "../unfold.ts";

// Each is another translation of what it refers to; who has so many has one mistake in all of them.
const MOST_REJECTED = 1_000;

/**
 * What else is wrong with rejected objects, as it would be reported if the rest of them were right: references to what is not found, and values
 * that are not allowed. All mistakes of an object are reported at once. Nothing is generated from it.
 */
export function rejectedMistakes(
  { rejected, given }: Pick<Intake, "rejected" | "given">,
  world: Translation,
  options: TranslateOptions,
): readonly Report[] {
  const readable = rejected.flatMap((object) => object.readable ?? []).slice(0, MOST_REJECTED);
  if (readable.length === 0) return [];
  const subjects = new Map(readable.map((resource) => [resourceKeyOf(refOf(resource)), resource]));
  const { reports } = translate(world.cache.given.apply({ put: readable, remove: [] }), options, world);
  const found = new Map<string, Report>();
  for (const { subject, state, code, message } of reports) {
    const resource = subjects.get(resourceKeyOf(subject));
    if (resource === undefined) continue;
    if (!REFERENCES.has(code) && !(state === "INVALID" && isAsGiven(resource, message, given))) continue;
    // On which destinations depends on the members that were left out.
    found.set(keyOf(subject, message), { subject, state, code, message });
  }
  return [...found.values()];
}

/** Whether a message is about a rule of a policy of which nothing was left out. */
function isAsGiven(resource: Resource, message: string, given: Intake["given"]): boolean {
  const field = fieldOf(message);
  return field.startsWith("spec.policy.") && equalJson(memberAt(resource, stepsOf(field)), given(refOf(resource), field));
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
