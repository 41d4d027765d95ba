import { keptText } from "@isthmus/core";
import type { Store } from "@isthmus/ports";

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
  /** Version of its program; undefined: it does not say. */
  readonly version?: string;
}

/** A replica that runs, as others see it. */
export interface RunningReplica {
  readonly instance: string;
  /** Undefined: a replica of an earlier version does not say. */
  readonly version: string | undefined;
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

/** The replicas that run, by the store, in the order of their names; of what makes no sense, the instance alone. Rejects with StoreError. */
export async function runningReplicas(store: Pick<Store, "records">): Promise<readonly RunningReplica[]> {
  const records = [...(await store.records(REPLICAS))].sort(([a], [b]) => (a < b ? -1 : 1));
  return records.slice(0, MOST_REPLICAS).map(([instance, text]) => ({ instance, version: versionIn(text) }));
}

// Far more than run anywhere; a record that nobody renews is gone after 15 s.
const MOST_REPLICAS = 100;
const LONGEST_VERSION = 64;

function versionIn(text: string): string | undefined {
  try {
    const said: unknown = JSON.parse(text);
    const version = typeof said === "object" && said !== null && "version" in said ? said.version : undefined;
    return typeof version === "string" && version !== "" ? keptText(version, LONGEST_VERSION) : undefined;
  } catch {
    return undefined;
  }
}

/** The group of records in which replicas say that they run. */
const REPLICAS = "replicas";
/** How often a replica says that it runs, in ms. */
export const BEAT_MS = 5_000;
// Two beats may be lost.
const LIFE_MS = 3 * BEAT_MS;
