import { type Store, StoreError, type StoreNotice, type StoreWrite } from "@isthmus/ports";

/** What stands between one replica and the store. */
export interface StoreWay {
  /** Whether the store is out of reach for this replica, whatever else reaches it. */
  readonly isCut: () => boolean;
  /** What this replica writes, in the words of the version of the program that it runs. */
  readonly translated: (write: StoreWrite) => StoreWrite;
}

/** The ways of the replicas to their store. Replicas have no other way to each other: a partition between them is one of these. */
export interface StoreWays {
  cut(replica: string): void;
  mend(replica: string): void;
  /** From now on a replica writes as that version does. */
  setVersion(replica: string, version: ProgramVersion): void;
  /** The store as a replica reaches it. */
  over(replica: string, store: Store): Store;
  heal(): void;
}

/** `older`: does not know what was added last. `newer`: says more, and knows kinds that this one does not. */
export type ProgramVersion = "older" | "same" | "newer";

export function storeWays(): StoreWays {
  const cut = new Set<string>();
  const versions = new Map<string, ProgramVersion>();
  const listeners = new Map<string, Set<(notice: StoreNotice) => void>>();

  function mend(replica: string): void {
    if (!cut.delete(replica)) return;
    for (const hear of listeners.get(replica) ?? []) queueMicrotask(() => hear({ type: "missed" }));
  }

  return {
    cut: (replica) => void cut.add(replica),
    mend,
    setVersion: (replica, version) => void versions.set(replica, version),
    heal() {
      for (const replica of [...cut]) mend(replica);
    },
    over: (replica, store) => {
      const way: StoreWay = { isCut: () => cut.has(replica), translated: (write) => inVersion(write, versions.get(replica) ?? "same") };
      const reached = reaching(store, way);
      return {
        ...reached,
        subscribe(hear, signal) {
          const heard = (notice: StoreNotice) => {
            if (!way.isCut()) hear(notice);
          };
          const known = listeners.get(replica) ?? new Set();
          listeners.set(replica, known.add(heard));
          signal.addEventListener("abort", () => known.delete(heard), { once: true });
          store.subscribe(heard, signal);
        },
      };
    },
  };
}

function reaching(store: Store, { isCut, translated }: StoreWay): Store {
  function through<Args extends readonly unknown[], T>(call: (...args: Args) => Promise<T>): (...args: Args) => Promise<T> {
    return async (...args) => {
      if (isCut()) throw new StoreError("the store is not reached from here");
      const answer = await call(...args);
      // It may have happened all the same.
      if (isCut()) throw new StoreError("the connection to the store was lost");
      return answer;
    };
  }
  return {
    ...store,
    overview: through(store.overview),
    head: through(store.head),
    raiseFence: through(store.raiseFence),
    write: through((write) => store.write(translated(write))),
    clear: through(store.clear),
    record: through(store.record),
    records: through(store.records),
    putRecord: through(store.putRecord),
    removeRecord: through(store.removeRecord),
    exchangeRecord: through(store.exchangeRecord),
    distrust: through(store.distrust),
    async *load(partition, kindKey) {
      for await (const page of store.load(partition, kindKey)) {
        if (isCut()) throw new StoreError("the connection to the store was lost");
        yield page;
      }
    },
  };
}

/** The members of a head's `meta` that the first version did not have. */
const ADDED = ["isHeard", "excess", "resumedDeletes"];

/**
 * A write as another version of the program makes it. Digests and objects stay as they are: formats that differ in them have names of
 * their own in the store, and do not meet (packages/store/src/redisWire.ts).
 */
function inVersion(write: StoreWrite, version: ProgramVersion): StoreWrite {
  if (version === "same") return write;
  if (version === "older") {
    return { ...write, meta: Object.fromEntries(Object.entries(write.meta).filter(([member]) => !ADDED.includes(member))) };
  }
  const said = { ofLaterVersions: { since: 2, list: [1, "two", null] } };
  const { agent, delivered } = write.meta;
  const more = (value: unknown) => (typeof value === "object" && value !== null ? { ...value, ...said } : value);
  return {
    ...write,
    meta: {
      ...write.meta,
      ...said,
      ...(agent === undefined ? {} : { agent: more(agent) as never }),
      ...(delivered === undefined ? {} : { delivered: more(delivered) as never }),
    },
  };
}
