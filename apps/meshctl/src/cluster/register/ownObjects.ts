import { type AnyResource, equalJson, formatRef, groupOf, type Kind, kindKeyOf, type Resource, refOf, UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { untyped } from "../remoteAccess.ts";

/** Field manager of what registration applies: by it we know what is ours to change and to delete. */
export const MANAGER = "meshctl";

/** Whether registration has made an object: by its `managedFields` as read from the API server. */
export function isMadeByMeshctl({ metadata }: Resource): boolean {
  return (metadata.managedFields ?? []).some(({ manager, operation }) => manager === MANAGER && operation === "Apply");
}

/** An object as it was before it was changed; undefined when there was none. */
export interface Change {
  readonly cluster: Cluster;
  readonly kind: Kind;
  readonly applied: Resource;
  readonly before: Resource | undefined;
}

/** The kinds of some objects, as the cluster serves them. Throws UsageError for one that it does not serve. */
export async function kindsOf(cluster: Cluster, objects: readonly Resource[]): Promise<(object: Resource) => Kind<AnyResource>> {
  const served = new Map((await cluster.servedKinds()).map((type) => [kindKeyOf(type), type]));
  const kinds = new Map<string, Kind<AnyResource>>();
  for (const object of objects) {
    const type = served.get(kindKeyOf(object));
    if (type === undefined) {
      throw new UsageError(
        `the cluster does not serve ${object.kind} (${object.apiVersion}), which is needed: install its CRD, leave out the value that asks for it, or upgrade the cluster`,
      );
    }
    kinds.set(kindKeyOf(object), untyped(object.apiVersion, object.kind, type.plural, type.namespaced));
  }
  return (object) => {
    const kind = kinds.get(kindKeyOf(object));
    if (kind === undefined) throw new TypeError(`${object.kind} was not looked up`);
    return kind;
  };
}

/** Without admission policies where the API server has none, before Kubernetes 1.30, as the chart leaves them out there. */
export async function withoutUnservedPolicies(cluster: Cluster, objects: readonly AnyResource[]): Promise<readonly AnyResource[]> {
  const served = new Set((await cluster.servedKinds()).map(kindKeyOf));
  return objects.filter((object) => groupOf(object.apiVersion) !== ADMISSION || served.has(kindKeyOf(object)));
}

const ADMISSION = "admissionregistration.k8s.io";

/**
 * Applies objects of ours, in their order; none, when one of them stands there and is somebody else's: that throws UsageError
 * with all of those. `changed` learns of each object that was made or changed, so that it can be undone.
 */
export async function applyObjects(cluster: Cluster, objects: readonly AnyResource[], changed: (change: Change) => void): Promise<void> {
  const kindOf = await kindsOf(cluster, objects);
  const found = await Promise.all(objects.map((object) => cluster.get(kindOf(object), placeOf(object))));
  const foreign = found.filter((object) => object !== undefined && !isMadeByMeshctl(object));
  if (foreign.length > 0) throw new UsageError(foreignText(foreign as readonly AnyResource[]));
  for (const [i, object] of objects.entries()) {
    const before = found[i];
    const applied = await applyOne(cluster, object).catch((error: unknown) => {
      // The API server may have done it all the same, and only its answer is lost.
      const isUnknown = error instanceof ClusterError && error.code === "Unavailable";
      if (isUnknown) changed({ cluster, kind: kindOf(object), applied: object, before });
      throw error;
    });
    if (applied.metadata.resourceVersion === before?.metadata.resourceVersion) continue;
    changed({ cluster, kind: kindOf(object), applied, before });
  }
}

/** Applies an object, or only tries to. Throws UsageError where somebody else has changed a field of it. */
export async function applyOne(cluster: Cluster, object: AnyResource, { dryRun = false } = {}): Promise<AnyResource> {
  try {
    return await cluster.apply(object, { fieldManager: MANAGER, dryRun });
  } catch (error) {
    if (!(error instanceof ClusterError && error.code === "Conflict")) throw error;
    const { manager = "another field manager", fields = [] } = error.details;
    throw new UsageError(
      `${formatRef(refOf(object))}: ${fields.join(", ") || "a field"} was changed by ${manager} since meshctl applied it: undo that change, or delete the object, and run this command again`,
    );
  }
}

function foreignText(objects: readonly AnyResource[]): string {
  const names = objects.map((object) => {
    const [manager] = new Set((object.metadata.managedFields ?? []).map((entry) => String(entry["manager"])));
    return `${formatRef(refOf(object))}${manager === undefined ? "" : ` (field manager ${manager})`}`;
  });
  return (
    `${names.join(", ")} ${names.length === 1 ? "exists and was" : "exist and were"} not created by meshctl, which does not overwrite ` +
    `${names.length === 1 ? "it" : "them"}: delete ${names.length === 1 ? "it" : "them"}, or use another namespace with --remote-namespace`
  );
}

/** Takes changes back, the last one first: deletes what was made, and restores what was changed. Gives what could not be undone. */
export async function takeBack(changes: readonly Change[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { cluster, kind, applied, before } of [...changes].reverse()) {
    try {
      if (before !== undefined) await restore(cluster, kind, { applied, before });
      else if (applied.metadata.uid !== undefined) await deleteIfSame(cluster, kind, applied);
      else await deleteIfOurs(cluster, kind, applied);
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error;
      problems.push(`${formatRef(refOf(applied))}: ${error.message}`);
    }
  }
  return problems;
}

/**
 * Makes an object what it was: its fields, and whose they are. Else the next apply would find the restored fields with another field manager,
 * and be refused. What somebody has written since stays: throws ClusterError.
 */
async function restore(
  cluster: Cluster,
  kind: Kind,
  { applied, before }: { readonly applied: Resource; readonly before: Resource },
): Promise<void> {
  const found = await cluster.get(kind, placeOf(before));
  // Gone, or another one by now.
  if (found === undefined || found.metadata.uid !== before.metadata.uid) return;
  // Without a version the answer to our write was lost: what it has made of the object is not known.
  if (applied.metadata.resourceVersion !== undefined && !equalJson(contentOf(found), contentOf(applied))) {
    throw new ClusterError("Conflict", "was changed by somebody else since, and is left as it is: compare it with what it was before");
  }
  const { managedFields, ...metadata } = before.metadata;
  const { resourceVersion } = found.metadata;
  const restored = await cluster.update({
    ...before,
    metadata: { ...metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
  });
  // Apart from the fields: of what one write changes, the API server makes the writer the manager.
  if (managedFields !== undefined) await cluster.update({ ...restored, metadata: { ...restored.metadata, managedFields } });
}

/** What people and programs declare in an object. */
function contentOf({ metadata: { labels = {} }, ...rest }: Resource): object {
  const { status: _, ...declared } = rest as Partial<AnyResource>;
  return { ...declared, labels };
}

/** Of a write whose answer was lost: it was not there before. */
async function deleteIfOurs(cluster: Cluster, kind: Kind, object: Resource): Promise<void> {
  const found = await cluster.get(kind, placeOf(object));
  if (found !== undefined && isMadeByMeshctl(found)) await deleteIfSame(cluster, kind, found);
}

/** Deletes the very object that was looked at, if it is still there. */
export async function deleteIfSame(cluster: Cluster, kind: Pick<Kind, "apiVersion" | "kind">, { metadata }: Resource): Promise<void> {
  const { name, namespace = "", uid } = metadata;
  const { apiVersion } = kind;
  try {
    await cluster.delete({ apiVersion, kind: kind.kind, name, namespace, clusterName: "" }, uid === undefined ? {} : { uid });
  } catch (error) {
    // Gone, or another one by now.
    if (!(error instanceof ClusterError && (error.code === "NotFound" || error.code === "Conflict"))) throw error;
  }
}

/** Name and namespace by which `Cluster.get` finds an object; the namespace of one that has none is "". */
export function placeOf({ metadata }: Resource): { readonly name: string; readonly namespace: string } {
  return { name: metadata.name, namespace: metadata.namespace ?? "" };
}
