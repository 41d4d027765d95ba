import type { Store } from "../ports/clusterPort.ts";

/** Which replicas run. Each says so every few seconds; what one says expires by the store's own clock. */
export interface Replicas {
  /** Instances that run, this one included. Before the store has answered: this one alone. */
  readonly alive: ReadonlySet<string>;
  /** Says that this one runs, and looks who else does. Gives whether that is news. Rejects with StoreError. */
  beat(said: ReplicaRecord): Promise<boolean>;
  /** Says that this one runs no more. Rejects with StoreError: then the others find out by themselves. */
  leave(): Promise<void>;
}

/** What a replica says of itself. */
export interface ReplicaRecord {
  readonly leads: boolean;
  /** Digest of all that it wants in all clusters: equal for replicas that know the same. */
  readonly digest: string;
  readonly clusters: number;
}

/** Records replicas in the store, this one as `instance`; a record expires 15 s after its last `beat`. */
export function replicas(store: Store, instance: string): Replicas {
  let alive: ReadonlySet<string> = new Set([instance]);
  return {
    get alive() {
      return alive;
    },
    async beat(said) {
      await store.putRecord(REPLICAS, instance, JSON.stringify(said), { ttlMs: LIFE_MS });
      const before = alive;
      alive = new Set([instance, ...(await store.records(REPLICAS)).keys()]);
      return alive.size !== before.size || [...alive].some((name) => !before.has(name));
    },
    leave: async () => void (await store.removeRecord(REPLICAS, instance)),
  };
}

/** The group of records in which replicas say that they run. */
const REPLICAS = "replicas";
/** How often a replica says that it runs, in ms. */
export const BEAT_MS = 5_000;
// Two beats may be lost.
const LIFE_MS = 3 * BEAT_MS;
