import type { FleetMoment } from "./fleet.ts";

/** Whether a moment is made of the very parts of another one. */
export function isSameMoment(a: FleetMoment | undefined, b: FleetMoment): a is FleetMoment {
  return a !== undefined && a.activity === b.activity && isSameFleet(a, b);
}

/** The same, whatever happened there. */
export function isSameFleet(a: FleetMoment | undefined, b: FleetMoment): a is FleetMoment {
  if (
    a === undefined ||
    a.insights !== b.insights ||
    a.certificates !== b.certificates ||
    a.viewer !== b.viewer ||
    a.revision !== b.revision
  )
    return false;
  return isSameMap(a.objects, b.objects) && isSameMap(a.generated, b.generated);
}

function isSameMap(one: FleetMoment["objects"], other: FleetMoment["objects"]): boolean {
  return one.size === other.size && [...one].every(([key, value]) => other.get(key) === value);
}
