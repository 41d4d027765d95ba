import type { Metadata, Resource } from "@isthmus/core";
import type { TSchema } from "@sinclair/typebox";
import type { DefinedResource, Fields } from "./defineKind.ts";

/** What a schema may say of the members of a value. */
interface Shape {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly additionalProperties?: TSchema | boolean;
  readonly items?: TSchema;
}

/**
 * Of an object that users write, what its kind declares and no more: a field that no rule reads never leaves its cluster, whatever is in it. The same
 * for what was given once already.
 */
export function declaredAlone<F extends Fields>(fields: F): (resource: DefinedResource<F>) => DefinedResource<F> {
  return (resource) => {
    const { apiVersion, kind, metadata } = resource;
    const all = resource as unknown as Readonly<Record<string, unknown>>;
    const declared = Object.entries(fields).flatMap(([name, schema]) =>
      all[name] === undefined ? [] : [[name, declaredIn(schema, all[name])] as const],
    );
    return { apiVersion, kind, metadata: named(metadata), ...Object.fromEntries(declared) } as DefinedResource<F>;
  };
}

/** Annotations are left out: in them tools keep what they like. */
function named({ name, namespace, clusterName, labels, creationTimestamp }: Metadata): Resource["metadata"] {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(clusterName === undefined ? {} : { clusterName }),
    ...(labels === undefined ? {} : { labels }),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
  };
}

function declaredIn(schema: TSchema, value: unknown): unknown {
  const { properties, additionalProperties, items } = schema as Shape;
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => declaredIn(items, item));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value);
  if (typeof additionalProperties === "object")
    return Object.fromEntries(members.map(([key, one]) => [key, declaredIn(additionalProperties, one)]));
  if (properties === undefined) return value;
  return Object.fromEntries(
    members.flatMap(([key, one]) => (properties[key] === undefined ? [] : [[key, declaredIn(properties[key], one)] as const])),
  );
}
