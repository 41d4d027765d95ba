import type { AnyResource } from "@isthmus/core";
import { membersAt } from "../../apply/json.ts";
import { assembled, contentOf, type ServerMetadata, serverMetadataOf, timestamp } from "../../object.ts";
import type { SimulatedState } from "../../state.ts";
import type { Stored } from "../../store.ts";
import { conflictError, forbiddenError, methodNotAllowed, notFoundError } from "../apiError.ts";
import type { DeleteOptions } from "../options.ts";
import type { ResourceRequest } from "../requestInfo.ts";
import type { ApiResource } from "../resourceTable.ts";

/** What became of an object that was to be deleted: as it was, and whether it is still there. */
export interface RemovedObject {
  readonly last: Stored;
  readonly isGone: boolean;
}

export interface RemoveRequest {
  readonly state: SimulatedState;
  readonly resource: ApiResource;
  readonly target: ResourceRequest;
  readonly options: DeleteOptions;
  /** Nobody collects what depends on a deleted object but this server. */
  readonly collects: boolean;
}

/** Nothing uses a volume of a simulated cluster. */
const PROTECTIONS: ReadonlySet<string> = new Set(["kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"]);
const IMMORTAL: ReadonlySet<string> = new Set(["default", "kube-public", "kube-system"]);

/** Deletes an object, or marks it where finalizers hold it. Throws ApiError. */
export function removed(request: RemoveRequest): RemovedObject {
  const { state, resource, target, options, collects } = request;
  const { served } = resource;
  if (served === undefined) throw methodNotAllowed();
  const stored = served.store.get(target.namespace, target.name);
  if (stored === undefined) throw notFoundError(resource, target.name);
  const { metadata } = stored.resource;
  if (options.uid !== undefined && options.uid !== metadata.uid) {
    const problem = `the UID in the precondition (${options.uid}) does not match the UID in record (${metadata.uid ?? ""}). The object might have been deleted and then recreated`;
    throw conflictError({ group: resource.group, plural: resource.kind }, target.name, problem);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== metadata.resourceVersion) {
    const problem = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion ?? ""}). The object might have been modified`;
    throw conflictError({ group: resource.group, plural: resource.kind }, target.name, problem);
  }
  const isNamespace = served.kindKey === "/Namespace";
  if (isNamespace && IMMORTAL.has(target.name)) throw forbiddenError(resource, target.name, "this namespace may not be deleted");
  const finalizers = finalizersAfter(stored.resource, options);
  if (collects && !options.dryRun) settleDependents(state, stored.resource, options);
  const held = collects ? (metadata.finalizers ?? []).filter((each) => !PROTECTIONS.has(each)) : finalizers;
  const grace = graceSeconds(stored.resource, request);
  if (!isNamespace && held.length === 0 && grace === 0) {
    if (!options.dryRun) state.commit(served, stored, undefined);
    return { last: stored, isGone: true };
  }
  if (metadata.deletionTimestamp !== undefined && grace === 0 && sameList(held, metadata.finalizers ?? []))
    return { last: stored, isGone: false };
  const server: ServerMetadata = {
    ...serverMetadataOf(stored.resource),
    deletionTimestamp: metadata.deletionTimestamp ?? timestamp(state.clock.now() + 1000 * grace),
    deletionGracePeriodSeconds: grace,
  };
  const content = contentOf(stored.resource);
  const held_ = held.length === 0 ? content : { ...content, metadata: { ...content.metadata, finalizers: held } };
  const marked = isNamespace ? { ...held_, status: { ...membersAt(content, "status"), phase: "Terminating" } } : held_;
  const next = { ...stored, resource: assembled(stored.resource, server, marked) };
  if (options.dryRun) return { last: next, isGone: false };
  const after = state.commit(served, stored, next);
  return { last: after ?? next, isGone: false };
}

/** How long a pod that is on a node may take to end. Where pods run here, they end at once. */
function graceSeconds(object: AnyResource, { resource, options, collects }: RemoveRequest): number {
  if (collects || resource.served?.kindKey !== "/Pod") return 0;
  const { nodeName, terminationGracePeriodSeconds = 30 } = membersAt(object, "spec");
  const { phase } = membersAt(object, "status");
  if (nodeName === undefined || phase === "Succeeded" || phase === "Failed") return 0;
  return Math.max(0, options.gracePeriodSeconds ?? Number(terminationGracePeriodSeconds));
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((each) => b.includes(each));
}

/** Finalizers by which a garbage collector is asked to do its part first. */
function finalizersAfter({ metadata }: AnyResource, { propagation }: DeleteOptions): readonly string[] {
  const rest = (metadata.finalizers ?? []).filter(
    (each) => propagation === undefined || (each !== "orphan" && each !== "foregroundDeletion"),
  );
  if (propagation === "Foreground") return [...rest, "foregroundDeletion"];
  return propagation === "Orphan" ? [...rest, "orphan"] : rest;
}

/** What a garbage collector does for a deletion: dependents are let go, or go first. */
function settleDependents(state: SimulatedState, owner: AnyResource, options: DeleteOptions): void {
  const { propagation } = options;
  if (propagation !== "Orphan" && propagation !== "Foreground") return;
  const { uid = "" } = owner.metadata;
  for (const served of [...state.all()]) {
    for (const stored of [...served.store.in(owner.metadata.namespace)]) {
      const owners = stored.resource.metadata.ownerReferences ?? [];
      if (!owners.some((each) => each.uid === uid)) continue;
      const rest = owners.filter((each) => each.uid !== uid);
      if (propagation === "Foreground" && rest.length === 0) {
        settleDependents(state, stored.resource, options);
        if ((stored.resource.metadata.finalizers ?? []).length === 0) state.commit(served, stored, undefined);
        continue;
      }
      const content = contentOf(stored.resource);
      const free = { ...content, metadata: { ...content.metadata, ownerReferences: rest } };
      state.commit(served, stored, { ...stored, resource: assembled(stored.resource, serverMetadataOf(stored.resource), free) });
    }
  }
}
