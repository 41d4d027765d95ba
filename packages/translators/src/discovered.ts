import { Destination, Mesh, Workload } from "@isthmus/api";
import {
  type Collection,
  emptyOutputSet,
  type Kind,
  kindKeyOf,
  type Output,
  type OutputSet,
  type Resource,
  type Snapshot,
  type Steps,
  withEach,
} from "@isthmus/core";

const DISCOVERED: readonly Kind[] = [Mesh, Workload, Destination];

/** What was given and discovered before. */
export interface DiscoveredBefore {
  readonly inputs: Snapshot;
  readonly discovery: OutputSet;
  readonly memory: { readonly given: Snapshot; readonly discovery: { readonly outputs: OutputSet } | undefined };
}

/** What was given with what was discovered in it, and what of it was discovered: objects that are given win over discovered ones. */
export function* discoveredInputs(
  given: Snapshot,
  discovered: OutputSet | undefined,
  before: DiscoveredBefore,
): Steps<{ readonly inputs: Snapshot; readonly beside: OutputSet }> {
  if (discovered === undefined) return { inputs: given, beside: before.discovery };
  const discoveredBefore = before.memory.discovery?.outputs ?? emptyOutputSet(discovered.owner);
  const changed = discovered.changesSince(discoveredBefore).map(({ key }) => key);
  const beside: [string, Output | undefined][] = [];
  let inputs = given;
  for (const kind of DISCOVERED) {
    const prefix = `${kindKeyOf(kind)}|`;
    const ofKind = given.of(kind);
    const keys = new Set([
      ...ofKind.changesSince(before.memory.given.of(kind)).map(({ key }) => key),
      ...changed.flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : [])),
    ]);
    const rows: (readonly [string, Resource | undefined])[] = [];
    for (const key of keys) {
      const own = ofKind.row(key);
      const output = own === undefined ? discovered.at(`${prefix}${key}`) : undefined;
      beside.push([`${prefix}${key}`, output]);
      rows.push([key, own ?? output?.resource]);
      yield;
    }
    const collection: Collection<Resource> = yield* withEach(before.inputs.of(kind), rows);
    inputs = inputs.withCollection(kind, collection);
  }
  return { inputs, beside: yield* withEach(before.discovery, beside) };
}
