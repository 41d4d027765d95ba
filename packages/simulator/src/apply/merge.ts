import { equalJson } from "@isthmus/core";
import { type FieldPath, type Part, type Position, partsOf, SEPARATOR } from "./fieldPath.ts";
import { isMembers, withMember } from "./json.ts";

/**
 * What a live value becomes when `applied` is laid over it: objects and keyed lists part by part, all else replaced.
 * What does not change is shared with `live`.
 */
export function mergeConfiguration(live: unknown, applied: unknown, position: Position): unknown {
  if (applied === undefined || live === applied) return live;
  const old = partsOf(live, position);
  const wanted = partsOf(applied, position);
  if (old === undefined || wanted === undefined || Array.isArray(live) !== Array.isArray(applied)) {
    return equalJson(live, applied) ? live : applied;
  }
  if (Array.isArray(live)) return mergedList(live, old, wanted);
  let result = live as Readonly<Record<string, unknown>>;
  for (const [segment, part] of wanted) {
    const field = segment.slice(2);
    result = withMember(result, field, mergeConfiguration(result[field], part.value, part.position));
  }
  return result;
}

type Parts = ReadonlyMap<string, Part>;

/** Elements that were applied keep their order; the others keep their place among them. */
function mergedList(live: readonly unknown[], old: Parts, wanted: Parts): readonly unknown[] {
  const result: unknown[] = [];
  const waiting = [...old.keys()];
  let next = 0;
  const takeUnapplied = () => {
    for (; next < waiting.length && !wanted.has(waiting[next] as string); next++) result.push(old.get(waiting[next] as string)?.value);
  };
  takeUnapplied();
  for (const [segment, part] of wanted) {
    const before = old.get(segment);
    result.push(before === undefined ? part.value : mergeConfiguration(before.value, part.value, part.position));
    if (waiting[next] !== segment) continue;
    next++;
    takeUnapplied();
  }
  for (; next < waiting.length; next++) {
    const segment = waiting[next] as string;
    if (!wanted.has(segment)) result.push(old.get(segment)?.value);
  }
  return result.length === live.length && result.every((element, i) => element === live[i]) ? live : result;
}

/** The value without the field at `path`; a list or object that loses its last part goes with it. */
export function without(value: unknown, path: FieldPath, position: Position): unknown {
  const [result] = removed(value, path.split(SEPARATOR), position);
  return result;
}

/** The value after the removal, and whether it has just lost its last part. */
function removed(value: unknown, [segment, ...below]: readonly string[], position: Position): [unknown, boolean] {
  const part = segment === undefined ? undefined : partsOf(value, position)?.get(segment);
  if (segment === undefined || part === undefined) return [value, false];
  const [rest, emptied] = below.length === 0 ? [undefined, false] : removed(part.value, below, part.position);
  const replacement = emptied ? undefined : rest;
  if (replacement === part.value) return [value, false];
  const result = Array.isArray(value) ? replacedElement(value, part.value, replacement) : replacedMember(value, segment, replacement);
  const isEmpty = Array.isArray(result) ? result.length === 0 : Object.keys(result).length === 0;
  // Only what the last segment emptied vanishes: an API server leaves `spec: {}` where `spec.policy` vanished.
  return [result, isEmpty && below.length === 0];
}

function replacedElement(list: readonly unknown[], element: unknown, replacement: unknown): readonly unknown[] {
  return list.flatMap((each) => (each !== element ? [each] : replacement === undefined ? [] : [replacement]));
}

function replacedMember(value: unknown, segment: string, replacement: unknown): Readonly<Record<string, unknown>> {
  return isMembers(value) ? withMember(value, segment.slice(2), replacement) : {};
}
