import { type AnyResource, type JsonObject, messageOf } from "@isthmus/core";
import { type KindDigest, type Store, StoreError, type StoreHead, type StoreSection } from "@isthmus/plane/ports";

/** What the store holds about one cluster. */
export interface StoredCluster {
  readonly clusterName: string;
  /** What the serving replica says of it: its phase, agent, what was delivered. */
  readonly meta: JsonObject;
  /** Whether the objects are all there are. False: a replica was filling the store, and nothing follows from what is missing. */
  readonly complete: boolean;
  readonly kinds: Readonly<Record<string, KindDigest>>;
  /** The objects of a kind, or of all kinds, a page at a time. */
  objects(kindKey?: string): AsyncIterable<readonly AnyResource[]>;
}

/**
 * The fleet as the store has it, whether or not a server runs: `input` is what agents reported, `translated` what is wanted
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
  const { meta, complete, kinds } = head;
  return {
    clusterName,
    meta,
    complete,
    kinds,
    async *objects(kindKey) {
      for (const key of kindKey === undefined ? Object.keys(kinds).sort() : [kindKey])
        for await (const page of store.load({ section, clusterName }, key)) yield page.map(({ text }) => parsed(text));
    },
  };
}

function parsed(text: string): AnyResource {
  try {
    return JSON.parse(text) as AnyResource;
  } catch (error) {
    throw new StoreError(`the store holds what is not JSON: ${messageOf(error)}`, error);
  }
}
