/** How deep a resource may be nested: more than any kind that we know needs, far less than would fill a stack. */
export const MAX_DEPTH = 64;

/** The size of a resource as JSON on the wire, in bytes of UTF-8. Source: decisions §4.7, “messages are at most 1 MiB”. */
export const MAX_RESOURCE_BYTES = 1024 * 1024;

/** Thrown where a text is read whose value is too much for a resource. */
export class ResourceExcess extends Error {
  override readonly name = "ResourceExcess";
}

/**
 * Why a JSON value is too much for a resource, with the remedy; undefined: it is not. Every entry point asks this before anything that walks
 * a value to its end: the API server, the wire, the store, files. It goes down as far as the limit and no further, so that no value
 * can fill its stack, and gives up as soon as a limit is passed: aliases that multiply cost no more than what they may.
 */
export function excessOf(value: unknown, maxBytes = MAX_RESOURCE_BYTES): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const left = leftAfter(value, 1, maxBytes);
  if (left === TOO_DEEP) return `is nested deeper than ${MAX_DEPTH} levels: reduce its nesting`;
  return left === TOO_LARGE ? tooLarge(maxBytes) : undefined;
}

/** Why a text is too large to be a resource's JSON. */
export function excessOfText(text: string, maxBytes = MAX_RESOURCE_BYTES): string | undefined {
  // Most are so short that no characters could make them too large.
  if (text.length * 3 <= maxBytes) return undefined;
  const bytes = text.length > maxBytes ? text.length : new TextEncoder().encode(text).length;
  return bytes > maxBytes ? tooLarge(maxBytes) : undefined;
}

function tooLarge(maxBytes: number): string {
  return `is larger than ${maxBytes / 1024} KiB as JSON: make it smaller, or split it`;
}

const [TOO_DEEP, TOO_LARGE] = [-1, -2];

/** How many of `left` bytes a value leaves, or which limit it passes. It takes at least what is counted: no escapes, one byte for each unit. */
function leftAfter(parent: object, depth: number, left: number): number {
  if (depth > MAX_DEPTH) return TOO_DEEP;
  let rest = left;
  if (Array.isArray(parent)) {
    for (let i = 0; i < parent.length && rest >= 0; i++) rest = leftAfterMember(parent[i], depth, rest - 1);
  } else {
    const fields = parent as Readonly<Record<string, unknown>>;
    for (const key in fields) {
      rest = leftAfterMember(fields[key], depth, rest - key.length - 1);
      if (rest < 0) break;
    }
  }
  return rest;
}

function leftAfterMember(member: unknown, depth: number, left: number): number {
  const rest = typeof member === "string" ? left - member.length : left;
  if (rest < 0) return TOO_LARGE;
  return typeof member === "object" && member !== null ? leftAfter(member, depth + 1, rest) : rest;
}
