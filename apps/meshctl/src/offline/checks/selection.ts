import { AccessPolicy, TrafficPolicy } from "@isthmus/api";
import { refOf, resourceKeyOf } from "@isthmus/core";
import type { UserObjectStatusUpdate } from "@isthmus/translators";
import type { Doubt, KnownObjects } from "./knownObjects.ts";

/**
 * Policies that do not say which services they are about, as if all were meant, with how many these are in the input. In a cluster that is
 * `status.targetCount`; in a file somebody may have forgotten it.
 */
export function selectionDoubts(known: KnownObjects, statuses: readonly UserObjectStatusUpdate[]): readonly Doubt[] {
  const counts = new Map(statuses.map(({ ref, status }) => [resourceKeyOf(ref), status["targetCount"]]));
  return [...known.of(TrafficPolicy), ...known.of(AccessPolicy)].flatMap((object): readonly Doubt[] => {
    const { spec } = object;
    if (spec === undefined || isWithoutEffect(object) || (spec.destinationSelector ?? []).length > 0) return [];
    const count = counts.get(resourceKeyOf(refOf(object)));
    const services = typeof count === "number" && count > 0 ? (count === 1 ? "the 1 service" : `all ${count} services`) : "every service";
    const reach = object.kind === "AccessPolicy" ? "callers that it does not name lose access to" : "it applies to";
    const message = `spec.destinationSelector: is missing, so ${reach} ${services} that it may select: name the services, or write destinationSelector: [{kubeServiceMatcher: {}}] if all are meant`;
    return [{ object, code: "AllServicesSelected", message }];
  });
}

/** Of one that sets nothing, that is what is wrong with it. */
function isWithoutEffect({ kind, spec }: TrafficPolicy | AccessPolicy): boolean {
  return kind === "TrafficPolicy" && Object.keys((spec as TrafficPolicy["spec"])?.policy ?? {}).length === 0;
}
