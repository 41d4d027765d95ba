import { type Clock, emptyTable, type Kind, type Log, resourceKeyOf, type Snapshot, type Table } from "@isthmus/core";
import type { DatedObject, EndedInsight } from "@isthmus/insights";
import { type Store, StoreError } from "@isthmus/ports";
import { activityIn, type ClusterActivity } from "./clusterActivity.ts";
import { metaOf } from "./clusterMeta.ts";
import { datedObjectIn, ENDED_KEY, endedInsightsIn, INSIGHTS_PARTITION } from "./keptInsights.ts";
import { BEAT_MS, type RunningReplica, runningReplicas } from "./replicas.ts";
import { type FollowedContent, sectionReader } from "./sectionReader.ts";

/** What the store has of a cluster. */
export interface StoredState {
  /** What its agent has reported. */
  readonly snapshot: Snapshot;
  readonly phase: "synced" | "stale";
  /** Whether its agent was connected to the server that wrote last. That server may be gone. */
  readonly connected: boolean;
  /** Version of its agent. */
  readonly version: string | undefined;
  /** The replica to which its agent is, or was, connected; undefined: it does not say. */
  readonly servedBy: string | undefined;
  /** When something of it was last written, in milliseconds since 1970; undefined: before this reader began. */
  readonly changedAt: number | undefined;
}

/** Follows what servers keep in the store, whether or not one runs. Writes nothing. */
export interface StoreReader {
  /** Takes what was written since the last call, which has to have ended. Rejects with StoreError when the store does not answer. */
  update(signal: AbortSignal): Promise<void>;
  readonly clusters: ReadonlyMap<string, StoredState>;
  /** What users declare in the management cluster, with its statuses; undefined: the store has none of it. */
  readonly management: Snapshot | undefined;
  /** What is desired in each cluster; "" is the management cluster. */
  readonly translated: ReadonlyMap<string, Snapshot>;
  readonly insights: {
    /** Milliseconds since 1970; 0: there are none. */ readonly at: number;
    readonly objects: Table<DatedObject> /** By cluster, the older first: the same list as long as none is added. */;
    readonly ended: readonly EndedInsight[];
  };
  /** Of each cluster, what its agent said last that is whole, however long ago: the same as before while nothing was written. */
  readonly activity: ReadonlyMap<string, ClusterActivity>;
  /** The servers that ran when the store last answered; none: none did, or what they say cannot be read. */
  readonly servers: readonly RunningReplica[];
  /** What keeps parts of it from being read, as sentences. */
  readonly problems: readonly string[];
}

export interface StoreReaderOptions {
  readonly store: Store;
  /** Whether agents report objects of a kind (`kindKeyOf`), and what kind an object is of: anything else is left out. */
  readonly kinds: {
    readonly isReported: (kindKey: string) => boolean;
    readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
  };
  readonly clock: Clock;
  readonly log: Log;
}

/** Listens until the signal is aborted. */
export function storeReader({ store, kinds, clock, log }: StoreReaderOptions, signal: AbortSignal): StoreReader {
  const input = sectionReader({ store, section: "input", ...kinds, clock, log }, signal);
  const translated = sectionReader({ store, section: "translated", clock, log }, signal);
  const declared = sectionReader({ store, section: "management", kindOf: kinds.kindOf, clock, log }, signal);
  const kept = sectionReader({ store, section: "insights", isIn: () => true, clock, log }, signal);
  const counted = sectionReader({ store, section: "activity", clock, log }, signal);
  let activity: ReadonlyMap<string, ClusterActivity> = new Map();
  const activityOf = new WeakMap<Snapshot, ClusterActivity | undefined>();
  const stateOf = remembered((content: FollowedContent): StoredState => {
    const { phase, connected, agent, servedBy } = metaOf(content);
    return {
      snapshot: content.snapshot,
      phase,
      connected,
      version: agent?.version,
      servedBy: servedBy || undefined,
      changedAt: content.changedAt,
    };
  });
  let servers: readonly RunningReplica[] = [];
  let serversDue = 0;
  let insights = { from: undefined as Snapshot | undefined, at: 0, objects: NO_OBJECTS, ended: [] as readonly EndedInsight[] };

  function takeInsights(): void {
    const found = kept.contents.get(INSIGHTS_PARTITION.clusterName);
    if (found === undefined) return;
    const { at } = found.meta;
    const objects = insights.from === found.snapshot ? insights.objects : objectsAfter(insights.objects, insights.from, found.snapshot);
    const endedNow = found.snapshot.collections().get(ENDED_KEY);
    const ended = insights.from?.collections().get(ENDED_KEY) === endedNow ? insights.ended : endedInsightsIn(endedNow);
    insights = { from: found.snapshot, at: typeof at === "number" ? at : 0, objects, ended };
  }

  async function readServers(): Promise<void> {
    if (clock.now() < serversDue) return;
    serversDue = clock.now() + BEAT_MS;
    try {
      servers = await runningReplicas(store);
    } catch (error) {
      // All else was read: what is wrong with these records takes nothing from the fleet.
      if (!(error instanceof StoreError)) throw error;
      servers = [];
    }
  }

  function takeActivity(): void {
    const next = new Map<string, ClusterActivity>();
    for (const [name, { snapshot }] of counted.contents) {
      if (!activityOf.has(snapshot)) activityOf.set(snapshot, activityIn(name, snapshot));
      const found = activityOf.get(snapshot) ?? activity.get(name);
      if (found !== undefined) next.set(name, found);
    }
    if (next.size !== activity.size || [...next].some(([name, one]) => activity.get(name) !== one)) activity = next;
  }

  return {
    async update(until) {
      for (const section of [input, declared, translated, kept, counted]) await section.update(until);
      await readServers();
      takeInsights();
      takeActivity();
    },
    get activity() {
      return activity;
    },
    get clusters() {
      return new Map([...input.contents].map(([name, content]) => [name, stateOf(content)]));
    },
    get management() {
      return declared.contents.get("")?.snapshot;
    },
    get translated() {
      return new Map([...translated.contents].map(([name, { snapshot }]) => [name, snapshot]));
    },
    get insights() {
      return insights;
    },
    get servers() {
      return servers;
    },
    get problems() {
      return [...new Set([input, declared, translated, kept, counted].flatMap(({ problems }) => problems))];
    },
  };
}

const NO_OBJECTS = emptyTable<DatedObject>(({ object }) => resourceKeyOf(object));

function objectsAfter(table: Table<DatedObject>, before: Snapshot | undefined, now: Snapshot): Table<DatedObject> {
  const rows = new Map<string, DatedObject | undefined>();
  for (const [kindKey, collection] of before?.collections() ?? []) {
    const after = now.collections().get(kindKey);
    for (const [key] of collection.entries()) if (after?.row(key) === undefined) rows.set(`${kindKey}|${key}`, undefined);
  }
  for (const [kindKey, collection] of now.collections()) {
    const older = before?.collections().get(kindKey);
    for (const [key, resource] of collection.entries()) {
      if (older?.row(key) === resource) continue;
      rows.set(`${kindKey}|${key}`, datedObjectIn(resource));
    }
  }
  return table.with(rows);
}

function remembered<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const value = known.get(key) ?? make(key);
    known.set(key, value);
    return value;
  };
}
