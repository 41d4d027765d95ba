import { isMembers, type Members } from "../../apply/json.ts";

/** A value as Go prints maps: `map[a:1 b:[x y]]`. */
export function goMap(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goMap).join(" ")}]`;
  if (!isMembers(value)) return String(value);
  const pairs = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goMap(value[key])}`);
  return `map[${pairs.join(" ")}]`;
}

/** A strategic merge patch as it is after it was merged: lists of which it gives the order, and those orders, are gone. */
export function withoutMergedLists(patch: Members): Members {
  const merged = new Set(
    Object.keys(patch).flatMap((name) => (name.startsWith("$setElementOrder/") ? [name, name.slice("$setElementOrder/".length)] : [])),
  );
  const rest = Object.entries(patch).filter(([name]) => !merged.has(name));
  return Object.fromEntries(rest.map(([name, value]) => [name, isMembers(value) ? withoutMergedLists(value) : value]));
}
