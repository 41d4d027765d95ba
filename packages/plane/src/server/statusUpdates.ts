import { type AnyResource, type JsonObject, kindKeyOf } from "@isthmus/core";
import { NOT_HEARD, statusesOf, type World } from "@isthmus/translators";
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
  resumed,
}: {
  readonly world: World | undefined;
  readonly delivery: DeliveryLog;
  readonly view: ClusterView;
  readonly store: SnapshotStore;
  readonly kinds: ServerKinds;
  readonly resumed: ReadonlyMap<string, string>;
}): StatusUpdate[] {
  const published = observedAsPublished(view, kinds);
  const translated = world === undefined ? [] : statusesOf(world, delivery).filter(({ ref }) => ref.clusterName === "");
  return [
    ...translated.flatMap((update) => published(standing(update, view))),
    ...malformedStatuses(view, kinds),
    ...clusterStatuses(view.snapshot.of(kinds.registration), store.clusters, { heldIn: delivery.heldIn, resumed }),
  ];
}

/** A status in which what nobody has told since this server started is as it was told before: it has not become untrue by a restart. */
function standing({ ref, status }: StatusUpdate, view: ClusterView): StatusUpdate {
  const conditions = (status["conditions"] ?? []) as readonly JsonObject[];
  if (!conditions.some(({ reason }) => reason === NOT_HEARD)) return { ref, status };
  const live = view.snapshot.collections().get(kindKeyOf(ref))?.get(ref) as AnyResource | undefined;
  const before = ((live?.["status"] as JsonObject | undefined)?.["conditions"] ?? []) as readonly JsonObject[];
  const kept = conditions.map((condition) => {
    if (condition["reason"] !== NOT_HEARD) return condition;
    const stood = before.find(({ type }) => type === condition["type"]);
    if (stood === undefined || stood["observedGeneration"] !== live?.metadata.generation) return condition;
    const { lastTransitionTime: _, observedGeneration: __, ...said } = stood;
    return said;
  });
  return { ref, status: { ...status, conditions: kept } };
}

/**
 * Discovered objects get their generation from the API server, and translation sees them before and after: their
 * `observedGeneration` is that of the published object, wherever translation had the object from. There is no status
 * where nothing else is to be said.
 */
function observedAsPublished(view: ClusterView, kinds: ServerKinds): (update: StatusUpdate) => readonly StatusUpdate[] {
  const discovery = new Map(kinds.discovery.map((kind) => [kindKeyOf(kind), kind]));
  return (update) => {
    const kind = discovery.get(kindKeyOf(update.ref));
    if (kind === undefined) return [update];
    const { observedGeneration: _, ...status } = update.status;
    const generation = view.snapshot.of(kind).get(update.ref)?.metadata.generation;
    if (generation === undefined || Object.keys(status).length === 0) return [];
    return [{ ref: update.ref, status: { observedGeneration: generation, ...status } }];
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
