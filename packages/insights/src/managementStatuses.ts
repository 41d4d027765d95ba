import { KubernetesCluster, Settings, VirtualMesh } from "@isthmus/api";
import { type Kind, kindKeyOf, type Resource, refOf, type Snapshot } from "@isthmus/core";

// Translation does not read what the server says in their statuses, so that what it leaves has them as they were when their spec last changed.
const WITH_STATUS: readonly Kind[] = [Settings, VirtualMesh];

const READ: ReadonlySet<string> = new Set([KubernetesCluster, ...WITH_STATUS].map(kindKeyOf));

/** Whether rules read what the server says in the status of an object of the management cluster. */
export function isStatusRead(resource: Pick<Resource, "apiVersion" | "kind">): boolean {
  return READ.has(kindKeyOf(resource));
}

/** What translation leaves, with registrations as they are, and the statuses that rules read. An object stays the same one until it or its status changes. */
export function withManagementStatuses(inputs: Snapshot, management: Snapshot): Snapshot {
  const put = WITH_STATUS.flatMap((kind) =>
    [...management.of(kind)].flatMap((object) => {
      const input = inputs.of(kind).get(refOf(object));
      return input === undefined || input === object ? [] : [withStatusOf(object, input)];
    }),
  );
  const known = inputs.withCollection(KubernetesCluster, management.of(KubernetesCluster));
  return put.length === 0 ? known : known.apply({ put, remove: [] });
}

function withStatusOf(object: Resource, input: Resource): Resource {
  const last = MERGED.get(object);
  if (last?.input === input) return last.merged;
  const { status } = object as { readonly status?: unknown };
  const merged = { ...input, status };
  MERGED.set(object, { input, merged });
  return merged;
}

const MERGED = new WeakMap<Resource, { readonly input: Resource; readonly merged: Resource }>();
