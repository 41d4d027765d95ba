import { type Index, type Resource, type ResourceRef, resourceKeyOf, type Snapshot } from "@isthmus/core";

const PARENTS_ANNOTATION = "parents.networking.mesh.gloo.solo.io";
const FEDERATION_ANNOTATION = "federation.networking.mesh.gloo.solo.io";

/** The objects because of which a generated object exists; none when its annotation says so, or cannot be read. */
export function parentsOf(resource: Resource): readonly ResourceRef[] {
  const text = resource.metadata.annotations?.[PARENTS_ANNOTATION];
  if (text === undefined) return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return [];
  }
  if (typeof parsed !== "object" || parsed === null) return [];
  return Object.entries(parsed).flatMap(([type, refs]) => {
    const [apiVersion = "", kind = ""] = type.split(", Kind=");
    return Array.isArray(refs) ? refs.flatMap((ref: unknown) => refIn(ref, apiVersion, kind)) : [];
  });
}

function refIn(value: unknown, apiVersion: string, kind: string): readonly ResourceRef[] {
  if (typeof value !== "object" || value === null) return [];
  const { name, namespace = "", clusterName = "" } = value as Readonly<Record<string, unknown>>;
  if (typeof name !== "string" || typeof namespace !== "string" || typeof clusterName !== "string") return [];
  return [{ apiVersion, kind, name, namespace, clusterName }];
}

const BY_PARENT: Index<Resource> = (resource) => parentsOf(resource).map(resourceKeyOf);
const BY_SERVICE: Index<Resource> = (resource) => {
  const service = resource.metadata.annotations?.[FEDERATION_ANNOTATION];
  return service === undefined ? [] : [service];
};

/** Generated objects that exist because of an object, by kind. The indexes are carried along as snapshots change. */
export function generatedFor(generated: Snapshot, parent: ResourceRef): readonly Resource[] {
  const key = resourceKeyOf(parent);
  return [...generated.collections().values()].flatMap((collection) => collection.where(BY_PARENT, key));
}

/** Generated objects that stand for a Service (by `keyOf`) in other clusters. */
export function generatedForService(generated: Snapshot, serviceKey: string): readonly Resource[] {
  return [...generated.collections().values()].flatMap((collection) => collection.where(BY_SERVICE, serviceKey));
}
