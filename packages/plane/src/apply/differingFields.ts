import { type AnyResource, equalJson, type Resource } from "@isthmus/core";

/** Where an object says something else than `desired` does, as paths: the first few, no deeper than a person needs. */
export function differingFields(existing: Resource, desired: Resource, most: number): readonly string[] {
  const paths: string[] = [];
  const look = (path: string, live: unknown, want: unknown, depth: number): void => {
    if (paths.length >= most || equalJson(live, want)) return;
    if (depth === 0 || !isObject(live) || !isObject(want)) return void paths.push(path);
    for (const key of new Set([...Object.keys(want), ...Object.keys(live)])) look(`${path}.${key}`, live[key], want[key], depth - 1);
  };
  const [live, want] = [bodyOf(existing), bodyOf(desired)];
  for (const key of new Set([...Object.keys(want), ...Object.keys(live)])) look(key, live[key], want[key], 2);
  for (const group of ["labels", "annotations"] as const) {
    for (const [key, value] of Object.entries(desired.metadata[group] ?? {})) {
      if (existing.metadata[group]?.[key] !== value) paths.push(`metadata.${group}[${key}]`);
    }
  }
  return paths.slice(0, most);
}

function bodyOf(resource: Resource): Readonly<Record<string, unknown>> {
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...body } = resource as AnyResource;
  return body;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
