import { equalJson } from "@isthmus/core";
import { type FieldPath, type Part, type Position, partsOf, SEPARATOR } from "./fieldPath.ts";

/** The fields that a manager owns. A field with parts is owned through them. */
export type FieldSet = ReadonlySet<FieldPath>;

export const noFields: FieldSet = new Set();

/** Which fields two versions of an object differ in. */
export interface FieldChanges {
  readonly added: ReadonlySet<FieldPath>;
  readonly modified: ReadonlySet<FieldPath>;
  readonly removed: ReadonlySet<FieldPath>;
}

/** Every field that `value` says something about. */
export function fieldsOf(value: unknown, position: Position): FieldSet {
  const fields = new Set<FieldPath>();
  collect(value, position, "", fields);
  fields.delete("");
  return fields;
}

function collect(value: unknown, position: Position, path: FieldPath, into: Set<FieldPath>, withParents = false): void {
  const parts = partsOf(value, position);
  if (parts === undefined || parts.size === 0) {
    into.add(path);
    return;
  }
  if (withParents) into.add(path);
  for (const [segment, part] of parts) {
    const partPath = join(path, segment);
    if (part.isElement) into.add(partPath);
    collect(part.value, part.position, partPath, into, withParents);
  }
}

/**
 * What differs between two versions; parts that are shared (`===`) cost nothing. With `withParents`, a map or list that was not there before is added
 * itself, too, as API servers record updates; one that was null was there.
 */
export function changesBetween(before: unknown, after: unknown, position: Position, { withParents = false } = {}): FieldChanges {
  const changes = { added: new Set<FieldPath>(), modified: new Set<FieldPath>(), removed: new Set<FieldPath>() };
  compare(before, after, { position, path: "", changes, withParents });
  for (const set of Object.values(changes)) set.delete("");
  return changes;
}

interface Comparison {
  readonly position: Position;
  readonly path: FieldPath;
  readonly withParents: boolean;
  readonly changes: { readonly added: Set<FieldPath>; readonly modified: Set<FieldPath>; readonly removed: Set<FieldPath> };
}

function compare(before: unknown, after: unknown, comparison: Comparison): void {
  if (before === after) return;
  const { position, path, changes, withParents } = comparison;
  const now = after === undefined ? undefined : partsOf(after, position);
  const isEmpty = withParents && before === null && now !== undefined;
  const old = before === undefined ? undefined : isEmpty ? NO_PARTS : partsOf(before, position);
  if (old !== undefined && now !== undefined) {
    compareParts(old, now, comparison);
  } else if (before !== undefined && after !== undefined && old === undefined && now === undefined) {
    if (!equalJson(before, after)) changes.modified.add(path);
  } else {
    if (before !== undefined) collect(before, position, path, changes.removed, withParents);
    if (after !== undefined) collect(after, position, path, changes.added, withParents);
  }
}

const NO_PARTS: Parts = new Map();
/** It is there in any object. */
const METADATA = "f:metadata";

type Parts = ReadonlyMap<string, Part>;

function compareParts(old: Parts, now: Parts, { path, changes, withParents }: Comparison): void {
  // An empty object or list is owned itself; the one who does continues owning it when others put parts into it.
  if (now.size === 0 && old.size > 0 && !(withParents && path === METADATA)) changes.added.add(path);
  for (const [segment, part] of old) {
    const other = now.get(segment);
    const partPath = join(path, segment);
    if (other === undefined && part.isElement) changes.removed.add(partPath);
    compare(part.value, other?.value, { position: part.position, path: partPath, changes, withParents });
  }
  for (const [segment, part] of now) {
    if (old.has(segment)) continue;
    const partPath = join(path, segment);
    if (part.isElement) changes.added.add(partPath);
    collect(part.value, part.position, partPath, changes.added, withParents);
  }
}

/** The fields of either set; one of the two itself where the other is empty. */
export function unionOfFields(a: FieldSet, b: FieldSet): FieldSet {
  if (b.size === 0) return a;
  if (a.size === 0) return b;
  return new Set([...a, ...b]);
}

/** The fields of `a` that are not in `b`; `a` itself where that is all of them. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (b.size === 0 || a.size === 0) return a;
  const rest = [...a].filter((path) => !b.has(path));
  return rest.length === a.size ? a : new Set(rest);
}

/** The fields that are in both sets, in the order of `a`. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return new Set([...a].filter((path) => b.has(path)));
}

/** Whether both sets have the same fields, in whichever order. */
export function equalFields(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const path of a) if (!b.has(path)) return false;
  return true;
}

/** Whether a field below `path` is in the set. */
export function hasBelow(fields: FieldSet, path: FieldPath): boolean {
  const prefix = path + SEPARATOR;
  for (const field of fields) if (field.startsWith(prefix)) return true;
  return false;
}

/** The set as `managedFields[].fieldsV1` writes it. */
export function fieldsV1(fields: FieldSet): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const path of [...fields].sort()) {
    let node = root;
    let walked = "";
    for (const segment of path.split(SEPARATOR)) {
      // What has members of its own, such as an element of a keyed list, is a member of the set beside them.
      if (walked !== "" && fields.has(walked)) node["."] = {};
      walked = join(walked, segment);
      const next = (node[segment] ?? {}) as Record<string, unknown>;
      node[segment] = next;
      node = next;
    }
    if (path.slice(path.lastIndexOf(SEPARATOR) + 1).startsWith("k:")) node["."] = {};
  }
  return root;
}

/** The set that `fieldsV1` has written. */
export function fieldSetFrom(written: Readonly<Record<string, unknown>>, path: FieldPath = ""): FieldSet {
  const fields = new Set<FieldPath>();
  for (const [segment, below] of Object.entries(written)) {
    if (segment === ".") fields.add(path);
    else if (Object.keys(below as object).length === 0) fields.add(join(path, segment));
    else for (const field of fieldSetFrom(below as Readonly<Record<string, unknown>>, join(path, segment))) fields.add(field);
  }
  return fields;
}

function join(path: FieldPath, segment: string): FieldPath {
  return path === "" ? segment : path + SEPARATOR + segment;
}
