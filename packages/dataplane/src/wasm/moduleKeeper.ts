import { createHash } from "node:crypto";
import { backoffMs, type Clock, type Log, messageOf } from "@isthmus/core";
import { fairShares } from "../traffic/fairShares.ts";
import { ModuleUnavailable } from "./moduleRequest.ts";

/** A module that is to be there. */
export interface DesiredModule {
  /** Differs when another module is meant, or the same from elsewhere. */
  readonly source: string;
  /** Who asks for it; at least one. */
  readonly namespaces: ReadonlySet<string>;
  /** Fetches it. Throws ModuleUnavailable, and what the signal was aborted with. */
  readonly fetch: (signal: AbortSignal) => Promise<Uint8Array>;
}

/** What is there of a module. */
export interface KeptModule {
  /** The one that was fetched last: of an earlier source while there is none of the source that is meant now. */
  readonly bytes?: Uint8Array;
  /** Why the one that is meant is not there; absent while it is being fetched for the first time. */
  readonly problem?: string;
}

export interface ModuleKeeperOptions {
  /** Called when something of `kept` is different. */
  readonly changed: () => void;
  /** Default: `KEPT_LIMITS`. */
  readonly limits?: KeptLimits;
  readonly clock: Clock;
  /** From 0 to 1, excluded. */
  readonly random: () => number;
  readonly log: Log;
}

/** How much is kept. */
export interface KeptLimits {
  readonly modules: number;
  /** Of all modules; two that are the same count once. */
  readonly bytes: number;
  /** Fetched at a time. */
  readonly fetches: number;
  /** The most that one namespace has of each, where others ask for nothing of it. */
  readonly ofNamespace: { readonly modules: number; readonly bytes: number; readonly fetches: number };
}

/** Has modules fetched, and keeps them. */
export interface ModuleKeeper {
  /** From now on these are kept, by keys of the caller, and no others. */
  desire(modules: ReadonlyMap<string, DesiredModule>): void;
  /** What there is of one; nothing for a key that nobody needs. */
  kept(key: string): KeptModule;
}

/**
 * Fetches each module until it is there, after an error again in 1 s to 5 min. What was fetched stays until it is replaced or no longer
 * desired; modules that are the same are kept once. Above the limits a module is not there, and its problem says so; those that are there stay.
 * Namespaces take turns, and each has its share of what is limited: what several ask for counts for the one of them that has the least.
 */
export function moduleKeeper(
  { changed, limits = KEPT_LIMITS, clock, random, log }: ModuleKeeperOptions,
  signal: AbortSignal,
): ModuleKeeper {
  const entries = new Map<string, Entry>();
  /** Keys that were desired beyond a limit, and beyond which. */
  let leftOut: ReadonlyMap<string, string> = new Map();
  /** Entries that are due, in the order of asking. */
  const due = new Set<Entry>();
  /** How many are fetched for each namespace, and when it had its last turn. */
  const fetching = new Map<string, number>();
  const turns = new Map<string, number>();
  let turn = 0;

  // One listener for all: with one for each module Node warns of a leak from the eleventh on.
  signal.addEventListener(
    "abort",
    () => {
      for (const { until } of entries.values()) until.abort();
    },
    { once: true },
  );

  function fetchDue(): void {
    while ([...fetching.values()].reduce((sum, count) => sum + count, 0) < limits.fetches) {
      const next = nextDue();
      if (next === undefined) return;
      const [entry, namespace] = next;
      due.delete(entry);
      turn += 1;
      turns.set(namespace, turn);
      fetching.set(namespace, (fetching.get(namespace) ?? 0) + 1);
      void fetchOne(entry).finally(() => {
        fetching.set(namespace, (fetching.get(namespace) ?? 1) - 1);
        fetchDue();
      });
    }
  }

  /** What was asked for first of the namespace that has waited the longest, of those that may have one more fetched. */
  function nextDue(): readonly [entry: Entry, namespace: string] | undefined {
    let next: { readonly entry: Entry; readonly namespace: string; readonly last: number } | undefined;
    for (const entry of due) {
      for (const namespace of entry.desired.namespaces) {
        const last = turns.get(namespace) ?? 0;
        if (last >= (next?.last ?? Number.POSITIVE_INFINITY)) continue;
        if ((fetching.get(namespace) ?? 0) < limits.ofNamespace.fetches) next = { entry, namespace, last };
      }
    }
    return next && [next.entry, next.namespace];
  }

  async function fetchOne(entry: Entry): Promise<void> {
    const { desired, until } = entry;
    try {
      const bytes = await desired.fetch(until.signal);
      until.signal.throwIfAborted();
      keep(entry, bytes);
    } catch (error) {
      // Nobody needs it any more.
      if (until.signal.aborted) return;
      if (!(error instanceof ModuleUnavailable)) log.error({}, `fetching a module failed: ${messageOf(error)}`);
      entry.kept = { ...entry.kept, problem: error instanceof ModuleUnavailable ? error.message : "internal error" };
      entry.attempts += 1;
      void again(entry);
    }
    changed();
  }

  async function again(entry: Entry): Promise<void> {
    try {
      await clock.sleep(backoffMs(entry.attempts, RETRY, random), entry.until.signal);
    } catch {
      // Aborted: nobody needs it any more.
      return;
    }
    due.add(entry);
    fetchDue();
  }

  /** Throws ModuleUnavailable where there is no room. */
  function keep(entry: Entry, bytes: Uint8Array): void {
    const digest = createHash("sha256").update(bytes).digest("hex");
    const others = new Map<string, { readonly bytes: Uint8Array; readonly size: number; readonly namespaces: Set<string> }>();
    for (const other of entries.values()) {
      if (other === entry || other.kept.bytes === undefined) continue;
      const { bytes: kept } = other.kept;
      const one = others.get(other.digest) ?? { bytes: kept, size: kept.length, namespaces: new Set() };
      others.set(other.digest, one);
      for (const namespace of other.desired.namespaces) one.namespaces.add(namespace);
    }
    const same = others.get(digest)?.bytes;
    const taken = [...others.values()].reduce((sum, { size }) => sum + size, 0);
    const shares = fairShares(limits.ofNamespace.bytes, others.values());
    if (same === undefined && !shares.add({ namespaces: entry.desired.namespaces, size: bytes.length })) {
      throw new ModuleUnavailable(
        `there is no room for it: the modules of a namespace may have ${limits.ofNamespace.bytes} bytes together`,
      );
    }
    if (same === undefined && taken + bytes.length > limits.bytes) {
      throw new ModuleUnavailable(`there is no room for it: all modules of a cluster may have ${limits.bytes} bytes together`);
    }
    entry.digest = digest;
    entry.kept = { bytes: same ?? bytes };
  }

  return {
    desire(modules) {
      for (const [key, { until }] of entries) {
        if (modules.has(key)) continue;
        until.abort();
        entries.delete(key);
      }
      const beyond = new Map<string, string>();
      const there = [...modules].filter(([key]) => entries.has(key)).map(([, { namespaces }]) => ({ namespaces, size: 1 }));
      const shares = fairShares(limits.ofNamespace.modules, there);
      for (const [key, desired] of modules) {
        const before = entries.get(key);
        if (before?.desired.source === desired.source) {
          before.desired = desired;
          continue;
        }
        if (before === undefined && entries.size >= limits.modules) {
          beyond.set(key, `the agent keeps ${limits.modules} modules at most`);
          continue;
        }
        if (before === undefined && !shares.add({ namespaces: desired.namespaces, size: 1 })) {
          beyond.set(key, `the agent keeps ${limits.ofNamespace.modules} modules of a namespace at most`);
          continue;
        }
        before?.until.abort();
        const { bytes } = before?.kept ?? {};
        const entry: Entry = {
          desired,
          until: new AbortController(),
          kept: bytes === undefined ? {} : { bytes },
          digest: before?.digest ?? "",
          attempts: 0,
        };
        entries.set(key, entry);
        due.add(entry);
      }
      leftOut = beyond;
      for (const entry of due) if (entry.until.signal.aborted) due.delete(entry);
      const asking = new Set([...modules.values()].flatMap(({ namespaces }) => [...namespaces]));
      for (const namespace of turns.keys()) if (!asking.has(namespace)) turns.delete(namespace);
      for (const [namespace, count] of fetching) if (count === 0 && !asking.has(namespace)) fetching.delete(namespace);
      if (!signal.aborted) fetchDue();
    },
    kept(key) {
      const problem = leftOut.get(key);
      if (problem !== undefined) return { problem };
      return entries.get(key)?.kept ?? {};
    },
  };
}

interface Entry {
  desired: DesiredModule;
  /** Aborted when it is no longer desired. */
  readonly until: AbortController;
  kept: KeptModule;
  /** Of the bytes that are kept. */
  digest: string;
  attempts: number;
}

const RETRY = { firstMs: 1_000, lastMs: 5 * 60_000 };
// In memory, as proxies are sent them from there, and the configuration that holds one is a copy. Each fetch holds as much as a module besides.
const KEPT_LIMITS: KeptLimits = {
  modules: 1_000,
  bytes: 64 * 1024 * 1024,
  fetches: 2,
  // One namespace alone leaves others half of the bytes, and something to fetch with.
  ofNamespace: { modules: 250, bytes: 32 * 1024 * 1024, fetches: 1 },
};
