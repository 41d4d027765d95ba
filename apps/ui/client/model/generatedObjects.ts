import { fullKeyOf, keyOf, type Resource, refOf } from "@isthmus/core";
import type { Fleet } from "../data/fleet.ts";
import { Destination } from "../data/kinds.ts";
import { generatedFor, generatedForService } from "./parents.ts";
import { targetsOf } from "./policyTargets.ts";

/** A generated object, and whether the object that it is listed for is its parent, or has a say in it through a Destination. */
export interface GeneratedObject {
  readonly resource: Resource;
  readonly via: Destination | undefined;
}

/** What is generated because of an object: its own, those of its Service in other clusters, and for a policy those of the Destinations on which it is in force. */
export function generatedObjectsOf(fleet: Fleet, object: Resource): readonly GeneratedObject[] {
  const found = new Map<string, GeneratedObject>();
  const add = (resource: Resource, via: Destination | undefined): void => {
    const key = fullKeyOf(resource);
    if (!found.has(key)) found.set(key, { resource, via });
  };
  for (const resource of generatedFor(fleet.generated, refOf(object))) add(resource, undefined);
  if (object.kind === Destination.kind) for (const resource of ofService(fleet, object as Destination)) add(resource, undefined);
  for (const { destination, state } of targetsOf(fleet, object)) {
    if (destination === undefined || state !== "ACCEPTED") continue;
    for (const resource of generatedFor(fleet.generated, refOf(destination))) add(resource, destination);
    if (object.kind === "TrafficPolicy") for (const resource of ofService(fleet, destination)) add(resource, destination);
  }
  return [...found.values()];
}

function ofService(fleet: Fleet, destination: Destination): readonly Resource[] {
  const ref = destination.spec?.kubeService?.ref;
  if (ref?.name === undefined) return [];
  return generatedForService(
    fleet.generated,
    keyOf({ name: ref.name, namespace: ref.namespace ?? "", clusterName: ref.clusterName ?? "" }),
  );
}
