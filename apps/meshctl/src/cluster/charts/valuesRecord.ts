import { type AnyResource, formatRef, type Kind, kindKeyOf, type Resource, refOf, UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { deleteIfSame, isMadeByMeshctl, placeOf } from "../register/ownObjects.ts";
import { untyped } from "../remoteAccess.ts";

/**
 * Annotation of the ServiceAccount of an installation that has values of its own: its other objects, as JSON, so that they are found when they are no longer asked for.
 * The ServiceAccount is made before all that runs, and deleted after it.
 */
export const VALUES_ANNOTATION = "isthmus.mesh/installed-with-values";

/** Where an object is. */
export interface ObjectPlace {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** The objects of an installation, with the record of those that other values do not give. `account`: name of its ServiceAccount. */
export function withValuesRecord(
  objects: readonly AnyResource[],
  account: string,
  byDefault: readonly AnyResource[],
): readonly AnyResource[] {
  if (!objects.some(({ kind, metadata }) => kind === "ServiceAccount" && metadata.name === account))
    throw new UsageError(
      `serviceAccount.create and serviceAccount.name: meshctl keeps its record of these values on ServiceAccount ${account} of the chart: leave them out, or install with helm`,
    );
  const known = new Set(byDefault.map(keyOf));
  const more = objects.filter((object) => !known.has(keyOf(object))).map(placeIn);
  const record = JSON.stringify(more);
  return objects.map((object) => {
    if (object.kind !== "ServiceAccount" || object.metadata.name !== account) return object;
    const annotations = { ...object.metadata.annotations, [VALUES_ANNOTATION]: record };
    return { ...object, metadata: { ...object.metadata, annotations } };
  });
}

/**
 * What a ServiceAccount says of the values of its installation: undefined where it had none of its own. Of a record that cannot be read no
 * object is known.
 */
export function recordedObjects(account: Resource | undefined): readonly ObjectPlace[] | undefined {
  const text = account?.metadata.annotations?.[VALUES_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const record: unknown = JSON.parse(text);
    return Array.isArray(record) ? record.filter(isPlace) : [];
  } catch {
    return [];
  }
}

/** What of some places is ours: made by meshctl, with one of these values of the label `app`. Whatever else a record names stays. */
export async function oursAt(
  cluster: Cluster,
  places: readonly (ObjectPlace | AnyResource)[],
  apps: ReadonlySet<string>,
): Promise<readonly { readonly kind: Kind<AnyResource>; readonly object: AnyResource }[]> {
  const served = new Map((await cluster.servedKinds()).map((type) => [kindKeyOf(type), type]));
  const ours: { kind: Kind<AnyResource>; object: AnyResource }[] = [];
  for (const place of places) {
    const type = served.get(kindKeyOf(place));
    if (type === undefined || type.namespaced !== (place.metadata.namespace !== undefined)) continue;
    const kind = untyped(place.apiVersion, place.kind, type.plural, type.namespaced);
    const object = await cluster.get(kind, placeOf(place as Resource));
    if (object !== undefined && isMadeByMeshctl(object) && apps.has(object.metadata.labels?.["app"] ?? "")) ours.push({ kind, object });
  }
  return ours;
}

/** Deletes what an installation had by earlier values and does not have by these. Gives the names of what was deleted. */
export async function pruneObjects(
  cluster: Cluster,
  {
    earlier,
    now,
    apps,
    kept,
  }: {
    readonly earlier: readonly (ObjectPlace | AnyResource)[];
    readonly now: readonly AnyResource[];
    readonly apps: ReadonlySet<string>;
    readonly kept: ReadonlySet<string>;
  },
): Promise<readonly string[]> {
  const wanted = new Set(now.map(keyOf));
  const gone = earlier.filter((place) => !wanted.has(keyOf(place)) && !kept.has(place.kind));
  const deleted: string[] = [];
  for (const { kind, object } of await oursAt(cluster, gone, apps)) {
    await deleteIfSame(cluster, kind, object);
    deleted.push(formatRef(refOf(object)));
  }
  return deleted;
}

/** Equal for two descriptions of one object, whatever version it is written in. */
function keyOf({ apiVersion, kind, metadata }: ObjectPlace | AnyResource): string {
  const group = apiVersion.includes("/") ? apiVersion.split("/", 1)[0] : "";
  return [group, kind, metadata.namespace ?? "", metadata.name].join("/");
}

function placeIn({ apiVersion, kind, metadata: { name, namespace } }: AnyResource): ObjectPlace {
  return { apiVersion, kind, metadata: namespace === undefined ? { name } : { name, namespace } };
}

function isPlace(value: unknown): value is ObjectPlace {
  const { apiVersion, kind, metadata } = (value ?? {}) as Partial<ObjectPlace>;
  const { name, namespace } = (metadata ?? {}) as Partial<ObjectPlace["metadata"]>;
  return [apiVersion, kind, name].every((text) => typeof text === "string") && ["string", "undefined"].includes(typeof namespace);
}
