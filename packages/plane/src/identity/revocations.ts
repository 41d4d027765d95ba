import { abortedWith, type Clock, type Log, messageOf } from "@isthmus/core";
import { ClusterError, REVOCATIONS, type Store, StoreError } from "@isthmus/ports";
import { startWorkQueue } from "../runtime/workQueue.ts";
import { END_OF_TIME } from "./registrations.ts";

/**
 * Revocations as the store mirrors them, for replicas that do not hear the management cluster at the moment. The management
 * cluster is the truth: who can ask it goes by its answer, and puts the mirror right; who cannot goes by the latest moment
 * that it has heard of from either. What was heard once is only forgotten by the management cluster's word.
 */
export interface Revocations {
  /** The moment before which certificates of a cluster do not count, as far as this replica has heard by the mirror. Milliseconds since 1970. */
  before(clusterName: string): number | undefined;
  /** The management cluster has said something of a cluster that the mirror may lack. */
  learned(clusterName: string): void;
  readonly ended: Promise<void>;
}

/** Where there is no store there is no mirror. */
export const noRevocations: Revocations = { before: () => undefined, learned: () => undefined, ended: Promise.resolve() };

export interface RevocationsOptions {
  readonly store: Store;
  /** Revoked clusters, as last watched in the management cluster. */
  readonly watched: () => ReadonlyMap<string, number>;
  /** The same of one cluster, as the management cluster has it now. Rejects with ClusterError. */
  readonly ask: (clusterName: string, signal: AbortSignal) => Promise<number | undefined>;
  /** A cluster is revoked, perhaps as before. */
  readonly revoked: (clusterName: string, before: number) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/** Why a cluster is looked at: `learned` from the management cluster, or `compared` with the mirror. */
type Cause = "learned" | "compared";

/**
 * Keeps the mirror in the store and this replica in agreement: compares them at the start, every 2 s and when the store reports a change,
 * until `signal` is aborted. An outage of the store is logged once.
 */
export function startRevocations(options: RevocationsOptions, signal: AbortSignal): Revocations {
  const { store, watched, ask, revoked, clock, random, log } = options;
  const heard = new Map<string, number>();
  const queue = startWorkQueue<Cause>({ workers: WORKERS, retry: RETRY, work: attempt, clock, random }, signal);

  async function attempt(clusterName: string, cause: Cause): Promise<"done" | "again"> {
    try {
      return (await settle(clusterName, cause)) ? "done" : "again";
    } catch (error) {
      // The loop that compares says so in the log, and sharing in its figures.
      if (error instanceof StoreError) return "again";
      throw error;
    }
  }

  /**
   * Brings one cluster in order, here and in the mirror. The mirror is read first: the one who wrote it had it from the management
   * cluster, so an answer that was asked for afterwards is never older. False: another replica has written meanwhile.
   */
  async function settle(clusterName: string, cause: Cause): Promise<boolean> {
    const text = await store.record(REVOCATIONS, clusterName);
    const answer = await asked(clusterName);
    const mirrored = momentOf(text);
    const best = answer === "none" ? latest(mirrored, heard.get(clusterName), watched().get(clusterName)) : answer.before;
    if (best === undefined) heard.delete(clusterName);
    else heard.set(clusterName, best);
    if (best !== undefined) revoked(clusterName, best);
    // Without an answer, what was watched may be long outdated: only news of it are passed on, and nothing is undone.
    const isToWrite = answer !== "none" || (cause === "learned" && best !== mirrored);
    if (!isToWrite || textOf(best) === text) return true;
    return store.exchangeRecord(REVOCATIONS, clusterName, { from: text, to: textOf(best) });
  }

  async function asked(clusterName: string): Promise<{ readonly before: number | undefined } | "none"> {
    const patience = abortedWith(signal);
    const none = clock.sleep(ANSWER_MS, patience.signal).then(
      () => "none" as const,
      () => "none" as const,
    );
    const answer = ask(clusterName, patience.signal).then(
      (before) => ({ before }),
      (error: unknown) => {
        if (error instanceof ClusterError || patience.signal.aborted) return "none" as const;
        throw error;
      },
    );
    try {
      return await Promise.race([answer, none]);
    } finally {
      patience.abort();
    }
  }

  async function compare(): Promise<void> {
    const mirror = await store.records(REVOCATIONS);
    const seen = watched();
    for (const clusterName of new Set([...mirror.keys(), ...heard.keys(), ...seen.keys()])) {
      const moments = [momentOf(mirror.get(clusterName)), heard.get(clusterName), seen.get(clusterName)];
      if (new Set(moments).size > 1) queue.set(clusterName, "compared");
    }
  }

  async function comparisons(): Promise<void> {
    let isUp = true;
    while (!signal.aborted) {
      try {
        await compare();
        isUp = true;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        if (isUp) log.warn({}, `${messageOf(error)}; revocations are only received from the management cluster`);
        isUp = false;
      }
      await clock.sleep(COMPARE_MS, signal).catch(() => undefined);
    }
  }

  store.subscribe((notice) => {
    if (notice.type === "recorded" && notice.group === REVOCATIONS) queue.set(notice.name, "compared");
  }, signal);

  return {
    before: (clusterName) => heard.get(clusterName),
    learned: (clusterName) => queue.set(clusterName, "learned"),
    ended: Promise.all([queue.ended, comparisons()]).then(() => undefined),
  };
}

function latest(...moments: readonly (number | undefined)[]): number | undefined {
  const known = moments.filter((moment) => moment !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** What is there and cannot be read revokes everything. */
function momentOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const moment = Number(text);
  return text !== "" && Math.abs(moment) <= END_OF_TIME ? moment : END_OF_TIME;
}

function textOf(moment: number | undefined): string | undefined {
  return moment === undefined ? undefined : String(moment);
}

// A revocation counts everywhere within 5 s, also where a notice was lost: this long until it is missed, and as long again at
// most until the management cluster is not waited for any more.
const COMPARE_MS = 2_000;
const ANSWER_MS = 1_000;
const WORKERS = 4;
const RETRY = { firstMs: 200, lastMs: 2_000 };
