import { Secret } from "@isthmus/api";
import { type Clock, type Log, messageOf } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import { readSecret, type SecretData, secretOf, secretTexts } from "./secretData.ts";

/** The Secret that keeps which names have ever been registered, and by which cluster: name to UID. It outlives the KubernetesClusters. */
const NAMES_SECRET = "relay-registered-names-secret";

/** So many names are kept, well below the size that a Secret may have; beyond it nobody can say that a name is new. */
const MAX_NAMES = 5_000;

/** What is kept of names. */
export interface KeptNames {
  /** Name to UID. */
  readonly uids: ReadonlyMap<string, string>;
  /** No name can be added: what is not kept may have been registered all the same. */
  readonly isFull: boolean;
}

export interface NameRecord {
  read(signal?: AbortSignal): Promise<KeptNames>;
  /** Adds names and the UIDs of their clusters. Names that are kept already get their new UID. */
  add(uids: ReadonlyMap<string, string>, signal?: AbortSignal): Promise<void>;
}

/** Nothing is kept twice, and nothing is forgotten: a person who wants a name to be new again takes it out of the Secret. */
export function nameRecord(cluster: Cluster, { namespace }: { readonly namespace: string }): NameRecord {
  const ref = { name: NAMES_SECRET, namespace };
  let last: Promise<unknown> = Promise.resolve();
  let waiting: { readonly uids: Map<string, string>; readonly written: Promise<void> } | undefined;

  async function write(uids: ReadonlyMap<string, string>, signal: AbortSignal | undefined): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await writeOnce(uids, signal);
      } catch (error) {
        // Another replica was faster: what it wrote is read first.
        const isRace = error instanceof ClusterError && (error.code === "Conflict" || error.code === "AlreadyExists");
        if (!isRace || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async function writeOnce(uids: ReadonlyMap<string, string>, signal: AbortSignal | undefined): Promise<void> {
    const found = await cluster.get(Secret, ref, signal);
    const before = found === undefined ? {} : secretTexts(found);
    const after = merged(before, uids);
    if (after === before) return;
    if (found === undefined) {
      await cluster.create(secretOf(ref, after), signal);
      return;
    }
    const { managedFields: _, ...metadata } = found.metadata;
    await cluster.update({ ...secretOf(ref, after), metadata }, signal);
  }

  return {
    async read(signal) {
      const uids = new Map(Object.entries((await readSecret(cluster, ref, signal)) ?? {}));
      return { uids, isFull: uids.size >= MAX_NAMES };
    },
    add(uids, signal) {
      // Those that come while one write is under way share the next: a fleet may register all at once.
      if (waiting !== undefined) {
        for (const [name, uid] of uids) waiting.uids.set(name, uid);
        return waiting.written;
      }
      const gathered = new Map(uids);
      const written = last.then(() => {
        waiting = undefined;
        return write(gathered, signal);
      });
      waiting = { uids: gathered, written };
      last = written.catch(() => undefined);
      return written;
    },
  };
}

/** The very same when nothing is new. */
function merged(before: SecretData, uids: ReadonlyMap<string, string>): SecretData {
  const added = [...uids].filter(([name, uid]) => before[name] !== uid);
  let room = MAX_NAMES - Object.keys(before).length;
  const fitting = added.filter(([name]) => Object.hasOwn(before, name) || room-- > 0);
  return fitting.length === 0 ? before : { ...before, ...Object.fromEntries(fitting) };
}

/** Sees to it that every registered name is kept, those too that an older server registered. */
export interface NameKeeper {
  /** A cluster is registered. */
  registered(clusterName: string, uid: string): void;
  readonly ended: Promise<void>;
}

export interface NameKeeperOptions {
  readonly record: NameRecord;
  readonly clock: Clock;
  readonly log: Log;
}

/** Adds names to `record`, gathered for 100 ms; a write that fails is tried again every 5 s until `signal` is aborted. */
export function keepNames({ record, clock, log }: NameKeeperOptions, signal: AbortSignal): NameKeeper {
  const kept = new Map<string, string>();
  let waiting = new Map<string, string>();
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    // What a first list brings is written at once.
    await clock.sleep(GATHER_MS, signal).catch(() => undefined);
    while (waiting.size > 0 && !signal.aborted) {
      const batch = waiting;
      waiting = new Map();
      try {
        await record.add(batch, signal);
        for (const [name, uid] of batch) kept.set(name, uid);
        log.debug({ names: batch.size }, `stored ${batch.size} names of registered clusters`);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ClusterError)) throw error;
        waiting = new Map([...batch, ...waiting]);
        log.warn({}, `cannot store the names of registered clusters in Secret ${NAMES_SECRET}: ${messageOf(error)}; retrying`);
        await clock.sleep(RETRY_MS, signal).catch(() => undefined);
      }
    }
    writing = undefined;
  }

  return {
    registered(clusterName, uid) {
      if (uid === "" || kept.get(clusterName) === uid || signal.aborted) return;
      waiting.set(clusterName, uid);
      writing ??= write();
    },
    ended: new Promise((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(writing), { once: true });
    }),
  };
}

const ATTEMPTS = 10;
const GATHER_MS = 100;
const RETRY_MS = 5_000;
