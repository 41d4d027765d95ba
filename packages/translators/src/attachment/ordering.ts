import { compareKeys, keyOfResource, type Resource } from "@isthmus/core";

/** Orders policies by precedence: the older one first, then the one with the smaller key, `name.namespace.`. One without a time was not created yet. */
export function byPrecedence(a: Resource, b: Resource): number {
  return compareAges(a, b) || compareKeys(keyOfResource(a), keyOfResource(b));
}

function compareAges(a: Resource, b: Resource): number {
  const [left, right] = [createdAt(a), createdAt(b)];
  return left === right ? 0 : left < right ? -1 : 1;
}

function createdAt({ metadata }: Resource): number {
  const time = Date.parse(metadata.creationTimestamp ?? "");
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
}
