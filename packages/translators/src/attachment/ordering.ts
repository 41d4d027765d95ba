import { compareKeys, type Resource } from "@isthmus/core";

/** Orders policies by precedence: the older one first, then the smaller `name.namespace`. One without a time was not created yet. */
export function byPrecedence(a: Resource, b: Resource): number {
  return compareAges(a, b) || compareKeys(nameOf(a), nameOf(b));
}

function compareAges(a: Resource, b: Resource): number {
  const [left, right] = [createdAt(a), createdAt(b)];
  return left === right ? 0 : left < right ? -1 : 1;
}

function createdAt({ metadata }: Resource): number {
  const time = Date.parse(metadata.creationTimestamp ?? "");
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
}

function nameOf({ metadata }: Resource): string {
  return `${metadata.name}.${metadata.namespace ?? ""}`;
}
