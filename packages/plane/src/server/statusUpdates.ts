import { type JsonObject, kindKeyOf } from "@isthmus/core";
import { statusesOf, type World } from "@isthmus/translators";
import type { ClusterView } from "../clusterView.ts";
import { clusterStatuses } from "./clusterStatuses.ts";
import type { DeliveryLog } from "./delivery.ts";
import type { ServerKinds } from "./server.ts";
import type { SnapshotStore } from "./snapshotStore.ts";
import type { StatusUpdate } from "./statusWriter.ts";

/** The statuses that objects of the management cluster should have now. */
export function statusUpdates({
  world,
  delivery,
  view,
  store,
  kinds,
}: {
  readonly world: World | undefined;
  readonly delivery: DeliveryLog;
  readonly view: ClusterView;
  readonly store: SnapshotStore;
  readonly kinds: ServerKinds;
}): StatusUpdate[] {
  return [
    ...(world === undefined ? [] : statusesOf(world, delivery).filter(({ ref }) => ref.clusterName === "")).map(
      observedAsPublished(view, kinds),
    ),
    ...malformedStatuses(view, kinds),
    ...clusterStatuses(view.snapshot.of(kinds.registration), store.clusters),
  ];
}

/**
 * Discovered objects get their generation from the API server, and translation sees them before and after: their
 * `observedGeneration` is that of the published object, wherever translation had the object from.
 */
function observedAsPublished(view: ClusterView, kinds: ServerKinds): (update: StatusUpdate) => StatusUpdate {
  const discovery = new Map(kinds.discovery.map((kind) => [kindKeyOf(kind), kind]));
  return (update) => {
    const kind = discovery.get(kindKeyOf(update.ref));
    if (kind === undefined) return update;
    const { observedGeneration: _, ...status } = update.status;
    const generation = view.snapshot.of(kind).get(update.ref)?.metadata.generation;
    return { ref: update.ref, status: generation === undefined ? status : { observedGeneration: generation, ...status } };
  };
}

/** What a user asked of us and cannot be understood: INVALID, with the reason, and not in force. */
function malformedStatuses(view: ClusterView, kinds: ServerKinds): StatusUpdate[] {
  const asked = new Set(kinds.management.filter(kinds.isAsked).map(kindKeyOf));
  return [...view.malformed.values()]
    .filter(({ ref }) => asked.has(kindKeyOf(ref)))
    .map(({ ref, message }) => {
      const condition = { type: "Accepted", status: "False", reason: "Malformed", message };
      const status: JsonObject = { state: "INVALID", errors: [message], conditions: [condition] };
      return { ref, status };
    });
}
