import type { Resource } from "./resource.ts";

/** Deep equality of JSON values. A missing member equals one that is `undefined`. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equalJson(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  let count = 0;
  for (const key in left) {
    if (left[key] === undefined) continue;
    count++;
    if (!equalJson(left[key], right[key])) return false;
  }
  for (const key in right) if (right[key] !== undefined) count--;
  return count === 0;
}

/** Whether two objects say the same: labels, annotations and every field but status and the rest of metadata. */
export function equalContent(a: Resource, b: Resource): boolean {
  return a === b || equalJson(contentOf(a), contentOf(b));
}

/** What an owner decides of an object: labels, annotations and all but status and the server's own metadata. */
function contentOf(resource: Resource): Record<string, unknown> {
  const { metadata, status: _, ...rest } = resource as Resource & { status?: unknown };
  return { ...rest, labels: metadata.labels ?? {}, annotations: metadata.annotations ?? {} };
}
