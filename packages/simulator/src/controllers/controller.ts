import type { Clock, Kind, Log, OwnerReference, Resource, ResourceRef, Snapshot } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";

/** One change of one object: `before` or `after` is undefined when it was made or is gone. */
export interface ObjectChange {
  readonly before: Resource | undefined;
  readonly after: Resource | undefined;
}

/**
 * A loop that makes the world match what objects of one kind say. It is level-based: a pass looks at everything as it is
 * now, so a pass too many does no harm, and a lost one is made up by the next.
 */
export interface SimulatedController {
  readonly name: string;
  /** Every kind that `affected` and `reconcile` look at. */
  readonly reads: readonly Kind[];
  /** The objects that need a pass because of a change. */
  affected(change: ObjectChange, snapshot: Snapshot): Iterable<ResourceRef>;
  /** One pass over one object. Rejects with ClusterError when the world refused something: the pass is then repeated. */
  reconcile(ref: ResourceRef, context: Context, signal: AbortSignal): Promise<void>;
}

/** What a pass works with. */
export interface Context {
  /** Its writes show in `snapshot` at once. */
  readonly cluster: Cluster;
  readonly snapshot: Snapshot;
  readonly clock: Clock;
  /** 0..1 */
  readonly random: () => number;
  readonly log: Log;
}

/** The owner that an object's life and number is decided by. */
function controllerOf({ metadata }: Resource): OwnerReference | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** Index: objects by the UID of their controller. */
export function byController(resource: Resource): readonly string[] {
  const uid = controllerOf(resource)?.uid;
  return uid === undefined ? [] : [uid];
}

/** The controller of a changed object, when it is of the given kind. */
export function changedControllers({ before, after }: ObjectChange, kind: string): readonly ResourceRef[] {
  return [before, after].flatMap((resource) => {
    const owner = resource === undefined ? undefined : controllerOf(resource);
    if (resource === undefined || owner?.kind !== kind) return [];
    const { namespace = "", clusterName = "" } = resource.metadata;
    return [{ apiVersion: owner.apiVersion, kind, name: owner.name, namespace, clusterName }];
  });
}

/** What a controlled object says of its controller. */
export function controlledBy({ apiVersion, kind, metadata }: Resource): OwnerReference & { readonly blockOwnerDeletion: boolean } {
  const { name, uid } = metadata;
  return { apiVersion, kind, name, ...(uid === undefined ? {} : { uid }), controller: true, blockOwnerDeletion: true };
}

/** The namespace that an object made for `resource` belongs in. */
export function namespaceOf({ metadata }: Resource): { readonly namespace: string } {
  return { namespace: metadata.namespace ?? "" };
}
