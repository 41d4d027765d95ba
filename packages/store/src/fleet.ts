import { type AnyResource, type JsonObject, messageOf, parseCompact } from "@isthmus/core";
import { type Hash, isSameVersion, type KindDigest, type Store, StoreError, type StoreHead, type StoreSection } from "@isthmus/ports";

/** What the store holds about one cluster. */
export interface StoredCluster {
  readonly clusterName: string;
  /** What the serving replica says of it: its phase, agent, what was delivered. */
  readonly meta: JsonObject;
  /** Whether the objects are all there are. False: a replica was filling the store, and nothing follows from what is missing. */
  readonly complete: boolean;
  readonly kinds: Readonly<Record<string, KindDigest>>;
  /**
   * The objects of a kind, or of all kinds, a page at a time. Ends with StoreError where somebody without the key has taken some away or put
   * older ones back: then what it gave is not to be shown as the whole.
   */
  objects(kindKey?: string): AsyncIterable<readonly AnyResource[]>;
}

/**
 * The fleet as the store has it, whether or not a server runs: `input` is what agents reported, `translated` what is desired
 * in each cluster. For the console and the command line. Rejects with StoreError when the store does not answer.
 */
export async function readFleet(store: Store, section: StoreSection): Promise<readonly StoredCluster[]> {
  const { versions } = await store.overview(section);
  const heads = await Promise.all(
    [...versions.keys()].sort().map(async (name) => [name, await store.head({ section, clusterName: name })] as const),
  );
  return heads.flatMap(([clusterName, head]) => (head === undefined ? [] : [storedCluster(store, { section, clusterName, head })]));
}

function storedCluster(
  store: Store,
  { section, clusterName, head }: { readonly section: StoreSection; readonly clusterName: string; readonly head: StoreHead },
): StoredCluster {
  const { meta, complete, kinds, version } = head;
  const partition = { section, clusterName };

  /** Rejects when these are not the objects that the head tells of, though nobody has written since. */
  async function verify(kindKey: string, { count, sum }: { readonly count: number; readonly sum: Hash }): Promise<void> {
    const said = kinds[kindKey];
    const isSame =
      count === (said?.count ?? 0) && (said === undefined || store.hashing?.isDigest(partition, kindKey, sum, said.digest) !== false);
    if (isSame || !complete || !isSameVersion((await store.head(partition))?.version, version)) return;
    throw new StoreError(`the objects of ${kindKey} in ${section} of ${clusterName} do not match the head in the store`);
  }

  async function* objectsOf(kindKey: string): AsyncIterable<readonly AnyResource[]> {
    let [count, sum]: [number, Hash] = [0, NONE];
    for await (const page of store.load(partition, kindKey)) {
      count += page.length;
      for (const { hash = NONE } of page) sum = { a: (sum.a + hash.a) | 0, b: (sum.b + hash.b) | 0 };
      yield page.map(({ text }) => parsed(text));
    }
    if (store.hashing !== undefined) await verify(kindKey, { count, sum });
  }

  return {
    clusterName,
    meta,
    complete,
    kinds,
    async *objects(kindKey) {
      for (const key of kindKey === undefined ? Object.keys(kinds).sort() : [kindKey]) yield* objectsOf(key);
    },
  };
}

const NONE: Hash = { a: 0, b: 0 };

function parsed(text: string): AnyResource {
  try {
    return parseCompact(text) as AnyResource;
  } catch (error) {
    throw new StoreError(`the store has an entry that is not an object: ${messageOf(error)}`, error);
  }
}
