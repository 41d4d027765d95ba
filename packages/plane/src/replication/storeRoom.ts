import { type Clock, type Log, type Metric, type MetricName, uptimeOf } from "@isthmus/core";
import { type Store, type StoreCapacity, StoreError } from "@isthmus/ports";

/** What is known of the room in a store, as a status says it: it changes seldom, and not with each byte. */
export interface KnownRoom {
  /** Undefined: the store sets no limit of its own, or was not asked yet. */
  readonly capacity: StoreCapacity | undefined;
  /** Tenths of its limit that are in use, rounded down; 0 where it has none. */
  readonly usedTenths: number;
  /** What it has no room for at the moment, as `input/cluster-1`: section and cluster of a partition, or what the replica says of itself. */
  readonly refused: ReadonlySet<string>;
}

/** Watches whether a store has room. */
export interface StoreRoom extends KnownRoom {
  /** Work of a name ended, with an error where it did not succeed. */
  ended(name: string, error?: StoreError): void;
  /** Nothing is to be written of a cluster any more. */
  forget(clusterName: string): void;
  /** Others may write now what this replica could not. */
  leadChanged(): void;
  /** Asks the store, at most once a minute. Rejects with StoreError when it does not answer. */
  ask(): Promise<void>;
  metrics(): readonly Metric[];
}

/** The same store; `room` learns which partitions it has no room for. */
export function watchedStore(store: Store, room: Pick<StoreRoom, "ended">): Store {
  return {
    ...store,
    async write(write) {
      const { section, clusterName } = write.partition;
      const name = `${section}/${clusterName}`;
      try {
        const outcome = await store.write(write);
        room.ended(name);
        return outcome;
      } catch (error) {
        if (error instanceof StoreError) room.ended(name, error);
        throw error;
      }
    },
  };
}

/** `changed` is called when a status has something else to say. */
export function storeRoom({ store, clock, log, changed }: StoreRoomOptions): StoreRoom {
  const refused = new Set<string>();
  let capacity: StoreCapacity | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;

  async function ask(): Promise<void> {
    if (store.capacity === undefined || uptimeOf(clock) - askedAt < ASK_MS) return;
    const before = said(capacity);
    capacity = await store.capacity();
    askedAt = uptimeOf(clock);
    if (said(capacity) === before) return;
    tell();
    changed();
  }

  function tell(): void {
    if (capacity === undefined) return;
    if ("unknown" in capacity) {
      log.info({}, `how much memory the store has is not known: ${capacity.unknown}`);
      return;
    }
    const { usedBytes, limitBytes, evictionPolicy } = capacity;
    if (evictionPolicy !== undefined)
      log.warn({ evictionPolicy, limitBytes }, "the store drops entries at its memory limit: set maxmemory-policy to noeviction");
    if (limitBytes !== undefined && tenthsOf(capacity) >= ALMOST_FULL_TENTHS)
      log.warn({ usedBytes, limitBytes }, "the store has almost reached its memory limit, at which it refuses to write");
  }

  return {
    get capacity() {
      return capacity;
    },
    get usedTenths() {
      return tenthsOf(capacity);
    },
    refused,
    ended(name, error) {
      const size = refused.size;
      if (error?.isFull === true) {
        if (!refused.has(name))
          log.warn({ what: name }, `${error.message}: ${name} is not written until there is room; continuing from memory, and retrying`);
        refused.add(name);
      } else if (error === undefined) refused.delete(name);
      if (refused.size === size) return;
      // A store that has just become full, or has room again, is asked at once.
      if (refused.size === 0 || size === 0) askedAt = Number.NEGATIVE_INFINITY;
      changed();
    },
    forget(clusterName) {
      for (const name of refused) if (name.endsWith(`/${clusterName}`)) refused.delete(name);
    },
    leadChanged: () => refused.clear(),
    ask,
    metrics() {
      const figure = (name: MetricName, value: number): Metric => ({ name, labels: {}, value });
      const known = capacity === undefined || "unknown" in capacity ? undefined : capacity;
      return [
        figure("gloo_mesh_store_writes_refused", refused.size),
        ...(known === undefined ? [] : [figure("gloo_mesh_store_used_bytes", known.usedBytes)]),
        ...(known?.limitBytes === undefined ? [] : [figure("gloo_mesh_store_limit_bytes", known.limitBytes)]),
        ...(known === undefined ? [] : [figure("gloo_mesh_store_evicts", known.evictionPolicy === undefined ? 0 : 1)]),
      ];
    },
  };
}

export interface StoreRoomOptions {
  readonly store: Pick<Store, "capacity">;
  readonly clock: Clock;
  readonly log: Log;
  readonly changed: () => void;
}

function tenthsOf(capacity: StoreCapacity | undefined): number {
  if (capacity === undefined || "unknown" in capacity || capacity.limitBytes === undefined) return 0;
  return Math.floor((10 * capacity.usedBytes) / capacity.limitBytes);
}

/** What a status would say of it. */
function said(capacity: StoreCapacity | undefined): string {
  if (capacity === undefined || "unknown" in capacity) return JSON.stringify(capacity ?? null);
  const { usedBytes: _, ...settings } = capacity;
  return JSON.stringify([settings, tenthsOf(capacity)]);
}

const ASK_MS = 60_000;

/** From here on a store counts as almost full. */
export const ALMOST_FULL_TENTHS = 8;
