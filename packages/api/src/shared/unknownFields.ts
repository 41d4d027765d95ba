import type { TSchema } from "@sinclair/typebox";

/** A member of a user's object that has no effect. */
export interface IneffectiveField {
  /** As people write it: `spec.sourceSelector[0].kubeServiceMatcher`. */
  readonly path: string;
  /** `unknown`: no such field. `unsupported`: accepted by the schema, without effect. */
  readonly type: "unknown" | "unsupported";
  /** For `unknown`, the known field of the same object that is nearest in spelling, if one is near. For `unsupported`, what to know. */
  readonly hint?: string;
}

interface SchemaNode {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode | boolean;
  readonly items?: SchemaNode;
  readonly unsupported?: string;
}

/** The members of `value` that its schema does not know or that have no effect yet, in the order they are written. */
export function ineffectiveFields(schema: TSchema, value: unknown, path: string): readonly IneffectiveField[] {
  const found: IneffectiveField[] = [];
  collect(schema as SchemaNode, value, path, found);
  return found;
}

function collect(schema: SchemaNode, value: unknown, path: string, found: IneffectiveField[]): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return;
    for (const [i, element] of value.entries()) collect(items, element, `${path}[${i}]`, found);
    return;
  }
  const { properties, additionalProperties } = schema;
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const memberPath = path === "" ? name : `${path}.${name}`;
    const known = properties?.[name];
    if (known !== undefined) {
      if (known.unsupported === undefined) collect(known, member, memberPath, found);
      else found.push({ path: memberPath, type: "unsupported", hint: known.unsupported });
    } else if (typeof additionalProperties === "object") {
      collect(additionalProperties, member, memberPath, found);
    } else if (properties !== undefined) {
      const hint = nearest(name, Object.keys(properties));
      found.push({ path: memberPath, type: "unknown", ...(hint === undefined ? {} : { hint }) });
    }
  }
}

/** The candidate that differs least, when at most half of its letters differ or one is a part of the other. */
function nearest(name: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const [written, known] = [name.toLowerCase(), candidate.toLowerCase()];
    const distance = editDistance(written, known);
    const isNear = distance <= Math.max(name.length, candidate.length) / 2 || isPart(written, known) || isPart(known, written);
    if (isNear && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function isPart(part: string, whole: string): boolean {
  return part.length > 3 && whole.includes(part);
}

/** Levenshtein's distance. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[b.length] ?? 0;
}
