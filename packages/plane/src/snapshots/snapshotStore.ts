import {
  type Collection,
  type Delta,
  deltaBetween,
  emptyDelta,
  emptySnapshot,
  equalJson,
  fullKeyOf,
  isEmpty,
  type Kind,
  keptText,
  keyOfResource,
  kindKeyOf,
  type Log,
  messageOf,
  type Resource,
  refOf,
  resourceKeyOf,
  type Snapshot,
  snapshotOf,
} from "@isthmus/core";
import type { AgentInfo, Observation, QuotaExcess } from "@isthmus/ports";
import { type FirstSeenTimes, firstSeenTimestamp, NO_FIRST_SEEN_TIMES, withEarlierFirstSeenTimes, withFirstSeenTime } from "./firstSeen.ts";
import type { ChangeOrigin } from "./joinQueue.ts";

/**
 * How much is known of a workload cluster. `unknown`: its agent has not reported everything since this server started, and no
 * other replica has reported it; what came so far is kept apart. `synced`: everything is known and kept up to date. `stale`: was synced, its agent is offline; what
 * was known stays.
 */
export type ClusterPhase = "unknown" | "synced" | "stale";

export interface ClusterState {
  readonly phase: ClusterPhase;
  /** Whether its agent is connected, to this replica or to another. */
  readonly connected: boolean;
  /** Whether its agent is connected to this replica. */
  readonly isServed: boolean;
  readonly agent?: AgentInfo;
  /** Objects that were reported and are not of their kind, as sentences. */
  readonly malformed: ReadonlyMap<string, string>;
  /** What its agent reports above its quota, if anything. */
  readonly excess?: QuotaExcess;
  /** How many objects its agent had reported when its last full sync was complete; only where it reported to this replica. */
  readonly syncedObjects?: number;
}

/** What all agents have reported, each cluster apart. A cluster counts when it is registered and synced, not before. */
export interface SnapshotStore {
  /** Everything that counts of one cluster: nothing, while not everything is known. */
  snapshotIn(clusterName: string): Snapshot;
  /** All of it as one, made when it is asked for: for those who look at a plane. */
  readonly snapshot: Snapshot;
  readonly clusters: ReadonlyMap<string, ClusterState>;
  connected(clusterName: string, agent: AgentInfo): void;
  observed(clusterName: string, observation: Observation): void;
  /**
   * What is written down of a cluster since before this server started: objects that are still there were first seen when it says. With the
   * first word, or undefined for nothing, a cluster that waits for it counts.
   */
  earlier(clusterName: string, written: Snapshot | undefined): void;
  /** What an agent reports above its quota. */
  exceeded(clusterName: string, excess: QuotaExcess | undefined): void;
  /** A cluster has been registered: what its agent may have reported meanwhile counts from now on. */
  registered(clusterName: string): void;
  synced(clusterName: string, complete: ReadonlyMap<string, ReadonlySet<string>>): void;
  disconnected(clusterName: string): void;
  /** The kinds (`kindKeyOf`) whose objects' ages count. */
  readonly agedKinds: ReadonlySet<string>;
  /** Whether objects of a kind (`kindKeyOf`) are such as agents report. */
  isReported(kindKey: string): boolean;
  /** An object of a cluster as its kind reads it; undefined where nothing can be made of it, which is noted. */
  parsed(clusterName: string, resource: Resource): Resource | undefined;
  /**
   * What another replica tells of a cluster, and all that there is in it now, made from `snapshotIn` of `parsed` objects; with its first
   * word the cluster is known. While the agent is connected here, only it counts. Says whether it was taken.
   */
  followed(clusterName: string, told: ReplicatedState, now: Snapshot): boolean;
  /** Whether everything that its agent said here is still known as it was said, so that it need say only what has changed. */
  remembers(clusterName: string): boolean;
  /** Drops a cluster that is no longer registered, and all that it reported. */
  forget(clusterName: string): void;
}

/** A cluster's state by the word of another replica. */
export type ReplicatedState = { readonly phase: "synced" | "stale" } & Pick<ClusterState, "connected" | "agent" | "excess">;

export interface SnapshotStoreOptions {
  /** The kind of an object as it came, or undefined when this server does not know it. */
  readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
  /** Whether agents report objects of a kind (`kindKeyOf`): any other is left out. Default: they report all. */
  readonly isReported?: (kindKey: string) => boolean;
  /** How it is kept when objects were first seen. Default: it is not. */
  readonly ages?: FirstSeenTimes;
  /** Whether objects of a kind (`kindKeyOf`) that a cluster reports are read elsewhere already. Default: none are. */
  readonly isReadElsewhere?: (clusterName: string, kindKey: string) => boolean;
  /**
   * What the management cluster's statuses repeat of a cluster's objects, with when they were first seen: asked when the cluster is heard
   * for the first time, where nobody else keeps that (`ages.areKept`). Default: nothing.
   */
  readonly repeated?: (clusterName: string) => Snapshot;
  /** Whether a cluster of this name is registered. What another one reports is kept apart until it is. */
  readonly isRegistered: (clusterName: string) => boolean;
  readonly log: Log;
  /** Called after each change of what is known of a cluster, or of its state. */
  readonly changed: (delta: Delta, origin: ChangeOrigin) => void;
}

interface Known {
  readonly phase: ClusterPhase;
  readonly connected: boolean;
  readonly isServed: boolean;
  /** Whether what is known may be by another replica's word, and not as the agent has reported to this one. */
  readonly isFollowed: boolean;
  readonly agent?: AgentInfo;
  readonly malformed: Map<string, string>;
  /** Everything that counts. */
  readonly snapshot: Snapshot;
  /** What an agent has reported before it was synced for the first time, or its cluster registered. */
  readonly gathering: Snapshot | undefined;
  /** Whether that is everything. */
  readonly isWhole: boolean;
  /** What is written down of earlier; undefined until somebody has looked. */
  readonly earlier: Snapshot | undefined;
  /** When its agent began to report everything; undefined when it has. */
  readonly reportingSince: string | undefined;
  readonly excess?: QuotaExcess;
  readonly syncedObjects?: number;
}

function sizeOf(snapshot: Snapshot): number {
  return [...snapshot.collections().values()].reduce((sum, { size }) => sum + size, 0);
}

/** A store without clusters, in memory: after a restart agents report again, or other replicas are followed. */
export function snapshotStore(options: SnapshotStoreOptions): SnapshotStore {
  const {
    kindOf,
    isReported = () => true,
    isReadElsewhere = () => false,
    ages = NO_FIRST_SEEN_TIMES,
    isRegistered,
    log,
    changed,
  } = options;
  const { repeated = emptySnapshot } = options;
  const clusters = new Map<string, Known>();
  const unknown = { ...NOTHING, earlier: ages.areKept ? undefined : emptySnapshot() };

  function stateOf(clusterName: string): Known {
    return clusters.get(clusterName) ?? { ...unknown, malformed: new Map() };
  }

  function parsed(clusterName: string, resource: Resource): Resource | undefined {
    const known = clusters.get(clusterName)?.malformed;
    const kind = kindOf(resource.apiVersion, resource.kind);
    if (kind === undefined || !isReported(kindKeyOf(kind)) || isReadElsewhere(clusterName, kindKeyOf(kind))) return undefined;
    try {
      const good = kind.parse(resource);
      if (known !== undefined && known.size > 0) known.delete(fullKeyOf(resource));
      return good;
    } catch (error) {
      // The last good form stays in use.
      const [key, message] = [fullKeyOf(resource), keptText(messageOf(error), LONGEST_MESSAGE)];
      const { malformed } = stateOf(clusterName);
      if (malformed.get(key) !== message) log.warn({ cluster: clusterName }, `${message}; it is ignored`);
      malformed.set(key, message);
      return undefined;
    }
  }

  /** A cluster of which everything is known becomes part of the snapshot, if it is registered. */
  function join(clusterName: string): void {
    const state = clusters.get(clusterName);
    if (state?.gathering === undefined || state.earlier === undefined || !state.isWhole || !isRegistered(clusterName)) return;
    const snapshot = withEarlierFirstSeenTimes(state.gathering, ages.areKept ? state.earlier : repeated(clusterName));
    const nothing = emptySnapshot();
    const syncedObjects = sizeOf(snapshot);
    clusters.set(clusterName, {
      ...state,
      phase: "synced",
      isFollowed: false,
      snapshot,
      gathering: undefined,
      earlier: nothing,
      syncedObjects,
    });
    changed(deltaBetween(emptySnapshot(), snapshot), { clusterName, whole: snapshot });
  }

  return {
    snapshotIn: (clusterName) => stateOf(clusterName).snapshot,
    get snapshot() {
      const all = [...clusters.values()].map(({ snapshot }) => deltaBetween(emptySnapshot(), snapshot).put);
      return snapshotOf(all.flat());
    },
    clusters,
    parsed,
    connected(clusterName, agent) {
      const state = stateOf(clusterName);
      const gathering = state.phase === "unknown" ? emptySnapshot() : undefined;
      // What another replica knew stays in use, but this one has not received everything yet.
      const phase = state.phase === "synced" && state.isFollowed ? "stale" : state.phase;
      // What is new is new to the plane since it began: within one report the objects' own times order them.
      const reportingSince = firstSeenTimestamp(ages.now());
      const { excess: _, ...rest } = state;
      clusters.set(clusterName, { ...rest, phase, connected: true, isServed: true, agent, gathering, isWhole: false, reportingSince });
      changed(emptyDelta, { clusterName });
    },
    observed(clusterName, observation) {
      const state = stateOf(clusterName);
      const sight = { known: state.gathering ?? state.snapshot, moment: state.reportingSince ?? firstSeenTimestamp(ages.now()) };
      const put = observation.put
        .map((resource) => parsed(clusterName, resource))
        .filter((resource) => resource !== undefined)
        .map((resource) => withFirstSeenTime(resource, ages, sight));
      for (const ref of observation.remove) state.malformed.delete(resourceKeyOf(ref));
      if (state.gathering !== undefined) {
        clusters.set(clusterName, { ...state, gathering: state.gathering.apply({ put, remove: observation.remove }) });
        return;
      }
      const delta = withoutRepeats(state.snapshot, { put, remove: observation.remove });
      if (isEmpty(delta)) return;
      clusters.set(clusterName, { ...state, snapshot: state.snapshot.apply(delta) });
      changed(delta, { clusterName });
    },
    registered: join,
    earlier(clusterName, written = emptySnapshot()) {
      const state = stateOf(clusterName);
      if (state.earlier !== undefined) return;
      clusters.set(clusterName, { ...state, earlier: written });
      join(clusterName);
    },
    exceeded(clusterName, excess) {
      const { excess: _, ...state } = stateOf(clusterName);
      clusters.set(clusterName, { ...state, ...(excess === undefined ? {} : { excess }) });
      changed(emptyDelta, { clusterName });
    },
    agedKinds: ages.kinds,
    isReported,
    synced(clusterName, complete) {
      const state = { ...stateOf(clusterName), reportingSince: undefined };
      if (state.gathering !== undefined) {
        // A kind may have been sent twice.
        clusters.set(clusterName, {
          ...state,
          gathering: state.gathering.apply({ put: [], remove: vanished(state.gathering, complete) }),
          isWhole: true,
        });
        if (!isRegistered(clusterName)) {
          log.info({ cluster: clusterName }, `${clusterName} is synced; it is used as soon as it is registered`);
        }
        join(clusterName);
        return;
      }
      const delta: Delta = { put: [], remove: vanished(state.snapshot, complete) };
      const snapshot = state.snapshot.apply(delta);
      clusters.set(clusterName, { ...state, phase: "synced", isFollowed: false, snapshot, syncedObjects: sizeOf(snapshot) });
      changed(delta, { clusterName });
    },
    disconnected(clusterName) {
      const state = stateOf(clusterName);
      const phase = state.phase === "synced" ? "stale" : state.phase;
      clusters.set(clusterName, { ...state, connected: false, isServed: false, phase, isWhole: false });
      changed(emptyDelta, { clusterName });
    },
    followed(clusterName, { phase, connected, agent, excess }, snapshot) {
      const state = stateOf(clusterName);
      if (state.isServed || !isRegistered(clusterName)) return false;
      const { agent: known, malformed } = state;
      const said = agent ?? known;
      const told = { phase, connected, ...(said === undefined ? {} : { agent: said }), ...(excess === undefined ? {} : { excess }) };
      clusters.set(clusterName, { ...unknown, ...told, malformed, isFollowed: true, snapshot, gathering: undefined });
      const isNew = state.phase === "unknown";
      changed(deltaBetween(state.snapshot, snapshot), { clusterName, ...(isNew ? { whole: snapshot } : {}) });
      return true;
    },
    remembers(clusterName) {
      const { phase, isFollowed } = stateOf(clusterName);
      return phase !== "unknown" && !isFollowed;
    },
    forget(clusterName) {
      const { snapshot } = stateOf(clusterName);
      if (clusters.delete(clusterName)) changed(deltaBetween(snapshot, emptySnapshot()), { clusterName });
    },
  };
}

const NOTHING: Omit<Known, "malformed"> = {
  phase: "unknown",
  connected: false,
  isServed: false,
  isFollowed: false,
  snapshot: emptySnapshot(),
  gathering: emptySnapshot(),
  isWhole: false,
  earlier: emptySnapshot(),
  reportingSince: undefined,
};

// Of what is wrong with an object: it may repeat what stands there.
const LONGEST_MESSAGE = 1_024;

/** A delta without objects that are known as they are: an agent that reconnects says everything again. */
export function withoutRepeats(snapshot: Snapshot, delta: Delta): Delta {
  const collections = snapshot.collections();
  // The most that comes at once comes for the first time.
  if (collections.size === 0) return { put: delta.put, remove: [] };
  const put = delta.put.filter((resource) => !equalJson(collections.get(kindKeyOf(resource))?.row(keyOfResource(resource)), resource));
  const remove = delta.remove.filter((ref) => collections.get(kindKeyOf(ref))?.get(ref) !== undefined);
  return { put, remove };
}

/** What a cluster was known to hold of the kinds in `complete`, and now does not. Kinds that are not in it stay as they are. */
function vanished(snapshot: Snapshot, complete: ReadonlyMap<string, ReadonlySet<string>>): Delta["remove"] {
  const gone: Delta["remove"][number][] = [];
  for (const [kindKey, keys] of complete) {
    for (const [key, resource] of collectionOf(snapshot, kindKey)?.entries() ?? []) if (!keys.has(key)) gone.push(refOf(resource));
  }
  return gone;
}

/** How many objects a snapshot holds. */
export function countObjects(snapshot: Snapshot): number {
  let sum = 0;
  for (const { size } of snapshot.collections().values()) sum += size;
  return sum;
}

function collectionOf(snapshot: Snapshot, kindKey: string): Collection<Resource> | undefined {
  return snapshot.collections().get(kindKey);
}
