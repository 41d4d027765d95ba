import { Destination, Mesh, Workload } from "@isthmus/api";
import {
  type Collection,
  type CooperativeTask,
  emptyOutputSet,
  type Kind,
  keyOfResource,
  kindKeyOf,
  type Output,
  type OutputSet,
  type Resource,
  type Snapshot,
  withEach,
} from "@isthmus/core";

const DISCOVERED: readonly Kind[] = [Mesh, Workload, Destination];

/** What was given and discovered before. */
export interface DiscoveredBefore {
  readonly inputs: Snapshot;
  readonly discovery: OutputSet;
  readonly cache: { readonly given: Snapshot; readonly discovery: { readonly outputs: OutputSet } | undefined };
}

/**
 * What was given with what was discovered in it, and what of it was discovered: objects of the management cluster that are given win
 * over discovered ones. Those of workload clusters are left out: their word is about what runs there, not about what it is to the plane.
 */
export function* discoveredInputs(
  given: Snapshot,
  discovered: OutputSet | undefined,
  before: DiscoveredBefore,
): CooperativeTask<{ readonly inputs: Snapshot; readonly beside: OutputSet }> {
  const now = discovered ?? emptyOutputSet(before.discovery.owner);
  const discoveredBefore = before.cache.discovery?.outputs ?? emptyOutputSet(now.owner);
  const changed = now.changesSince(discoveredBefore);
  // Mostly nothing is given in the place of what was discovered: then that is one set, not two.
  let isAllBeside = before.discovery === discoveredBefore || before.discovery.size + discoveredBefore.size === 0;
  const beside: [string, Output | undefined][] = [];
  let inputs = given;
  for (const kind of DISCOVERED) {
    const prefix = `${kindKeyOf(kind)}|`;
    const ofKind = given.of(kind);
    // With the key across kinds, as it stands in what was discovered: a text of its own for each would be kept.
    const keys = new Map(ofKind.changesSince(before.cache.given.of(kind)).map(({ key }) => [key, `${prefix}${key}`]));
    for (const { key, before: was, after } of changed) {
      const output = after ?? was;
      if (output === undefined || !key.startsWith(prefix)) continue;
      keys.set(keyOfResource(output.resource), key);
      yield;
    }
    const rows: (readonly [string, Resource | undefined])[] = [];
    for (const [key, fullKey] of keys) {
      const own = ofManagement(ofKind.row(key));
      if (own !== undefined) isAllBeside = false;
      const output = own === undefined ? now.at(fullKey) : undefined;
      beside.push([fullKey, output]);
      rows.push([key, own ?? output?.resource]);
      yield;
    }
    const collection: Collection<Resource> = yield* withEach(before.inputs.of(kind), rows);
    inputs = inputs.withCollection(kind, collection);
  }
  return { inputs, beside: isAllBeside ? now : yield* withEach(before.discovery, beside) };
}

function ofManagement(resource: Resource | undefined): Resource | undefined {
  return (resource?.metadata.clusterName ?? "") === "" ? resource : undefined;
}
