import { type CooperativeTask, equalJson, fullKeyOf, type Resource, type Snapshot } from "@isthmus/core";
import type { Fleet } from "../../data/fleet.ts";

/** An object that was, is, or is otherwise. */
export interface ObjectChange {
  readonly key: string;
  readonly before: Resource | undefined;
  readonly after: Resource | undefined;
}

/** What differs between two times. */
export interface FleetChanges {
  readonly objects: readonly ObjectChange[];
  readonly generated: readonly ObjectChange[];
}

/** Compares every object, in steps. What an API server counts up by itself is no difference. */
export function* fleetChanges(before: Fleet, after: Fleet): CooperativeTask<FleetChanges> {
  const objects = yield* changesBetween(before.snapshot, after.snapshot);
  return { objects, generated: yield* changesBetween(before.generated, after.generated) };
}

function* changesBetween(before: Snapshot, after: Snapshot): CooperativeTask<readonly ObjectChange[]> {
  const changes: ObjectChange[] = [];
  const [older, newer] = [before.collections(), after.collections()];
  for (const kindKey of [...new Set([...older.keys(), ...newer.keys()])].sort()) {
    const [was, is] = [older.get(kindKey), newer.get(kindKey)];
    for (const [key, one] of was?.entries() ?? []) {
      yield;
      const other = is?.row(key);
      if (other === one) continue;
      const [before, after] = [comparable(one), other && comparable(other)];
      if (!equalJson(before, after)) changes.push({ key: fullKeyOf(one), before, after });
    }
    for (const [key, one] of is?.entries() ?? []) {
      yield;
      if (was?.row(key) === undefined) changes.push({ key: fullKeyOf(one), before: undefined, after: comparable(one) });
    }
  }
  return changes;
}

function comparable(resource: Resource): Resource {
  const {
    resourceVersion: _,
    managedFields: __,
    ...metadata
  } = resource.metadata as Resource["metadata"] & { readonly managedFields?: unknown };
  return { ...resource, metadata };
}
