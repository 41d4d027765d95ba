import { type Clock, equalJson, kindKeyOf, type Resource, refOf, resourceKeyOf } from "@isthmus/core";
import { type Leadership, type ServerLink, type Store, StoreError } from "@isthmus/ports";
import { startWorkQueue } from "../runtime/workQueue.ts";

/**
 * Tells agents what the leader orders, whichever replica they are connected to: the leader writes it into the store, for each cluster all
 * that is ordered there, and a replica that serves a cluster tells its agent what stands there. A replica that has not read it lately
 * tells nothing: an agent that is sent nothing changes nothing, and one that is sent what was ordered long ago might.
 */
export interface RequestSender {
  /** All that this replica orders in a cluster, while it leads. */
  set(clusterName: string, resources: readonly Resource[]): void;
  /** The agent of a cluster has connected here, or is gone. */
  touch(clusterName: string): void;
  forget(clusterName: string): void;
  readonly ended: Promise<void>;
}

export interface RequestSenderOptions {
  readonly link: Pick<ServerLink, "sendNotices">;
  /** Where there is none, there is one replica. */
  readonly store: Store | undefined;
  readonly leadership: Leadership;
  /** The clusters whose agents are connected to this replica. */
  readonly served: () => ReadonlySet<string>;
  /** The kinds of what is ordered, by `kindKeyOf`: nothing else is sent. */
  readonly kinds: ReadonlySet<string>;
  readonly clock: Clock;
  readonly random: () => number;
}

/**
 * Sends requests to agents, and compares with the store (where there is one) every 5 s, until `signal` is aborted. A replica that does not
 * lead withdraws what it has sent when it could not read the store for 15 s.
 */
export function startRequestSender(options: RequestSenderOptions, signal: AbortSignal): RequestSender {
  const { link, store, leadership, served, kinds, clock, random } = options;
  /** What was sent to agents, by cluster and `resourceKeyOf`. */
  const told = new Map<string, ReadonlyMap<string, Resource>>();
  /** What this replica orders; empty while it does not lead. */
  const wanted = new Map<string, readonly Resource[]>();
  /** When what is sent here was read last. */
  const readAt = new Map<string, number>();
  const queue = startWorkQueue<true>({ workers: WORKERS, retry: RETRY, work: attempt, clock, random }, signal);

  function tell(clusterName: string, resources: readonly Resource[]): void {
    const before = told.get(clusterName) ?? new Map<string, Resource>();
    const now = new Map(resources.map((resource) => [resourceKeyOf(refOf(resource)), resource]));
    const put = [...now].filter(([key, resource]) => !equalJson(before.get(key), resource)).map(([, resource]) => resource);
    const remove = [...before].filter(([key]) => !now.has(key)).map(([, resource]) => refOf(resource));
    told.set(clusterName, now);
    if (put.length + remove.length > 0) link.sendNotices(clusterName, { put, remove });
  }

  async function attempt(clusterName: string): Promise<"done" | "again"> {
    if (store === undefined) return "done";
    try {
      return leadership.isLeader ? await write(store, clusterName) : await follow(store, clusterName);
    } catch (error) {
      // Sharing says so in the log and in its figures.
      if (!(error instanceof StoreError)) throw error;
      if (!leadership.isLeader && isOld(clusterName)) tell(clusterName, []);
      return "again";
    }
  }

  async function write(to: Store, clusterName: string): Promise<"done" | "again"> {
    const resources = wanted.get(clusterName);
    if (resources === undefined) return "done";
    const next = resources.length === 0 ? undefined : JSON.stringify(resources);
    const from = await to.record(ORDERS, clusterName);
    if (from === next) return "done";
    // A leader of before that wakes up finds another text than the one that it has read.
    if (!leadership.isLeader) return "again";
    return (await to.exchangeRecord(ORDERS, clusterName, { from, to: next })) ? "done" : "again";
  }

  async function follow(from: Store, clusterName: string): Promise<"done"> {
    const text = served().has(clusterName) ? await from.record(ORDERS, clusterName) : undefined;
    if (leadership.isLeader) return "done";
    readAt.set(clusterName, clock.now());
    tell(clusterName, resourcesIn(text, clusterName, kinds));
    return "done";
  }

  function isOld(clusterName: string): boolean {
    return clock.now() - (readAt.get(clusterName) ?? 0) > LONGEST_UNREAD_MS;
  }

  async function comparisons(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(COMPARE_MS, signal).catch(() => undefined);
      const ordered = [...wanted].filter(([, resources]) => resources.length > 0).map(([name]) => name);
      for (const name of leadership.isLeader ? ordered : served()) queue.set(name, true);
    }
  }

  const stop = leadership.onChange((isLeader) => {
    wanted.clear();
    if (isLeader) return;
    for (const name of new Set([...told.keys(), ...served()])) {
      tell(name, []);
      queue.set(name, true);
    }
  });
  store?.subscribe((notice) => {
    if (notice.type === "recorded" && notice.group === ORDERS && !leadership.isLeader) queue.set(notice.name, true);
    if (notice.type === "missed") for (const name of served()) queue.set(name, true);
  }, signal);

  return {
    set(clusterName, resources) {
      if (!leadership.isLeader) return;
      if (equalJson(wanted.get(clusterName), resources)) return;
      wanted.set(clusterName, resources);
      tell(clusterName, resources);
      queue.set(clusterName, true);
    },
    touch(clusterName) {
      if (leadership.isLeader || store === undefined) return;
      if (!served().has(clusterName)) tell(clusterName, []);
      queue.set(clusterName, true);
    },
    forget(clusterName) {
      for (const known of [told, readAt]) known.delete(clusterName);
      if (wanted.has(clusterName)) wanted.set(clusterName, []);
      queue.set(clusterName, true);
    },
    ended: Promise.all([queue.ended, ...(store === undefined ? [] : [comparisons()])]).then(stop),
  };
}

/** Only what concerns this cluster, and is of a kind that is ordered: more is not taken on the word of a store. */
function resourcesIn(text: string | undefined, clusterName: string, kinds: ReadonlySet<string>): readonly Resource[] {
  try {
    const found = JSON.parse(text ?? "[]") as unknown;
    return Array.isArray(found) ? found.filter((one) => isOrder(one, clusterName, kinds)) : [];
  } catch {
    // Of another version of this program.
    return [];
  }
}

function isOrder(one: Partial<Resource> | null, clusterName: string, kinds: ReadonlySet<string>): one is Resource {
  const { apiVersion, kind, metadata } = one ?? {};
  if (typeof apiVersion !== "string" || typeof kind !== "string" || typeof metadata?.name !== "string") return false;
  return kinds.has(kindKeyOf({ apiVersion, kind })) && metadata.clusterName === clusterName;
}

/** The group of records of what is ordered, by cluster: JSON of the resources. Nothing in it is secret. */
const ORDERS = "orders";
const WORKERS = 4;
const RETRY = { firstMs: 200, lastMs: 5_000 };
const COMPARE_MS = 5_000;
// Shorter than any step of a rotation takes: what is sent is at most one order behind.
const LONGEST_UNREAD_MS = 15_000;
