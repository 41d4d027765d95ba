import { isMembers } from "../../apply/json.ts";

/** A value after a JSON merge patch (RFC 7386): null deletes, objects are merged, all else is replaced. */
export function mergePatched(value: unknown, patch: unknown): unknown {
  if (!isMembers(patch)) return patch;
  const result: Record<string, unknown> = isMembers(value) ? { ...value } : {};
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) delete result[name];
    else {
      const merged = mergePatched(Object.hasOwn(result, name) ? result[name] : undefined, change);
      Object.defineProperty(result, name, { value: merged, enumerable: true, writable: true, configurable: true });
    }
  }
  // In order, as Go writes maps.
  return Object.fromEntries(Object.entries(result).sort(([a], [b]) => (a < b ? -1 : 1)));
}
