import { type AnyResource, type Kind, kindKeyOf, type Resource, refOf, resourceKeyOf, snapshotOf } from "@isthmus/core";
import { statusesOf, translate } from "@isthmus/translators";

/** Objects of a management cluster as they are when its server has processed them: those of these kinds with the status that it writes. */
export function processed(objects: readonly AnyResource[], kinds: readonly Kind[]): readonly AnyResource[] {
  const translation = translate(snapshotOf(objects as readonly Resource[]), { namespace: "gloo-mesh", stage: "networking" });
  const statuses = new Map(statusesOf(translation).map(({ ref, status }) => [resourceKeyOf(ref), status]));
  const asked = new Set(kinds.map((kind) => kindKeyOf(kind)));
  return objects.map((object) => {
    const status = asked.has(kindKeyOf(object)) ? statuses.get(resourceKeyOf(refOf(object))) : undefined;
    return status === undefined ? object : { ...object, status: { ...status, observedGeneration: object.metadata.generation } };
  });
}
