import { type Kind, kindKeyOf, type OwnerReference, type Resource, refOf } from "@isthmus/core";
import { untypedKind } from "../kinds.ts";
import type { Context, SimulatedController } from "./controller.ts";

/** Deletes objects of `kinds` when the last of their owners is gone. */
export function garbageCollector(kinds: readonly Kind[]): SimulatedController {
  const byKey = new Map(kinds.map((kind) => [kindKeyOf(kind), kind]));
  return {
    name: "garbageCollection",
    reads: kinds,
    *affected({ before, after }, snapshot) {
      if (after?.metadata.ownerReferences !== undefined) yield refOf(after);
      if (before === undefined || (after !== undefined && after.metadata.uid === before.metadata.uid)) return;
      for (const kind of kinds) {
        for (const dependent of snapshot.of(kind).where(byOwner, before.metadata.uid ?? "")) yield refOf(dependent);
      }
    },
    async reconcile(ref, context, signal) {
      const kind = byKey.get(kindKeyOf(ref));
      const resource = kind === undefined ? undefined : context.snapshot.of(kind).get(ref);
      const owners = resource?.metadata.ownerReferences ?? [];
      if (resource === undefined || owners.length === 0) return;
      for (const owner of owners) if (await isThere(owner, resource, context, signal)) return;
      const { uid } = resource.metadata;
      await context.cluster.delete(ref, uid === undefined ? {} : { uid }, signal);
    },
  };

  async function isThere(owner: OwnerReference, { metadata }: Resource, context: Context, signal: AbortSignal): Promise<boolean> {
    const ref = { name: owner.name, namespace: metadata.namespace ?? "", clusterName: metadata.clusterName ?? "" };
    const known = byKey.get(kindKeyOf(owner));
    if (known !== undefined && context.snapshot.of(known).get(ref)?.metadata.uid === owner.uid) return true;
    // What is remembered says that it is gone; only the API server knows.
    const served = (await context.cluster.servedKinds(signal)).find(
      ({ apiVersion, kind }) => apiVersion === owner.apiVersion && kind === owner.kind,
    );
    // An owner of a kind that is not served is unknown, not gone.
    if (served === undefined) return true;
    const place = { name: ref.name, namespace: served.namespaced ? ref.namespace : "" };
    const found = await context.cluster.get(untypedKind(served), place, signal);
    return found !== undefined && found.metadata.uid === owner.uid;
  }
}

function byOwner({ metadata }: Resource): readonly string[] {
  return (metadata.ownerReferences ?? []).flatMap(({ uid }) => (uid === undefined ? [] : [uid]));
}
