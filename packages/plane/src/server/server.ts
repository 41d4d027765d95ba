import {
  type Delta,
  isOwnedBy,
  type Kind,
  kindKeyOf,
  type Meter,
  type Metric,
  noMeter,
  type Owner,
  type Resource,
  type Snapshot,
} from "@isthmus/core";
import { type Statuses, statusesAfter, type TranslateOptions, type World } from "@isthmus/translators";
import { type ClusterView, viewCluster } from "../clusterView.ts";
import { coalesced } from "../coalesce.ts";
import { alwaysLeader } from "../leadership.ts";
import type { Clock, Cluster, Leadership, Log, ServerLink, ServerLinkHandler, Store } from "../ports.ts";
import type { RemovalLog } from "../removalLog.ts";
import { deliveryLog } from "./delivery.ts";
import { startLeaderWrites } from "./leaderWrites.ts";
import { startMembership } from "./membership.ts";
import { agentNotices } from "./notices.ts";
import { reconciler } from "./reconcile.ts";
import { deleteResumption } from "./resumeDeletes.ts";
import { serverMetrics } from "./serverMetrics.ts";
import { noSharing } from "./sharing/noSharing.ts";
import { type Sharing, type SharingOptions, startSharing } from "./sharing/sharing.ts";
import { type SnapshotStore, snapshotStore } from "./snapshotStore.ts";
import { statusUpdates } from "./statusUpdates.ts";
import { witness } from "./witness.ts";

/** The kinds that a server deals with, by role. */
export interface ServerKinds {
  /** Read in the management cluster. */
  readonly management: readonly Kind[];
  /** Written into the management cluster. */
  readonly published: readonly Kind[];
  /** Of those, the discovered ones: derived by us, and read back only to recall clusters that are away. */
  readonly discovery: readonly Kind[];
  /** The kind whose objects register clusters. */
  readonly registration: Kind;
  /** Any kind that an agent may report. */
  readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
  /** Whether users ask things of us by objects of this kind. */
  readonly isAsked: (kind: Kind) => boolean;
  /** Whether users may write objects of a kind (`kindKeyOf`) in workload clusters. */
  readonly isContributed: (kindKey: string) => boolean;
}

export interface ServerOptions {
  readonly cluster: Cluster;
  /** Makes the link to the agents; called once, at the start. */
  readonly link: (handler: ServerLinkHandler) => ServerLink;
  readonly kinds: ServerKinds;
  /** Tells the agent of a cluster that the removals it holds back may go; rejects when it cannot be told. */
  readonly resumeDeletes: (clusterName: string) => Promise<void>;
  /** What users asked in workload clusters, as the status of a published object repeats it: for clusters that are silent. */
  readonly rememberedRequests: (published: Resource) => readonly Resource[];
  /** What the agent of a cluster is to know of the settings in the management cluster. */
  readonly settingsToTell: (management: Snapshot, clusterName: string) => Resource;
  /** Namespace of the management plane: its value in owner labels. */
  readonly namespace: string;
  /**
   * UID of the management cluster, by `clusterUid`: where that cluster is registered as well, what users ask there is read once, as
   * the management cluster's. Default: it is not registered.
   */
  readonly ownUid?: string;
  readonly discoveryOwner: Owner;
  readonly networkingOwner: Owner;
  readonly translation: TranslateOptions;
  /** Which of several replicas writes into the management cluster. Default: this one, as there is no other. */
  readonly leadership?: Leadership;
  /** Where replicas share what they know, and how this one is called. Default: there is no other, and a restart forgets. */
  readonly sharing?: { readonly store: Store; readonly replica: string };
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Takes in figures as they arise. Default: nobody does. */
  readonly meter?: Meter;
}

/** A running management server. */
export interface Server {
  readonly view: ClusterView;
  readonly store: SnapshotStore;
  /** The last translation, once there was one. */
  readonly world: World | undefined;
  /** The last removals, and why. */
  readonly removals: RemovalLog;
  /** What is shared with other replicas. */
  readonly sharing: Pick<Sharing, "instance" | "isLoaded" | "digests">;
  /** From before which moment certificates of a cluster do not count, by the word of other replicas. Milliseconds since 1970. */
  revokedBefore(clusterName: string): number | undefined;
  /** Says why this server cannot connect to a cluster, which its KubernetesCluster tells; undefined: it can again. */
  cannotConnect(clusterName: string, problem: string | undefined): void;
  /** Figures as they are now, beside those that the meter was told. */
  metrics(): readonly Metric[];
  readonly ended: Promise<void>;
}

export function startServer(options: ServerOptions, signal: AbortSignal): Server {
  const { cluster, kinds, clock, random, log, discoveryOwner, namespace, leadership = alwaysLeader, meter = noMeter } = options;
  const discoveryKinds = new Set(kinds.discovery.map(kindKeyOf));
  const delivery = deliveryLog();
  /** Of clusters that this server connects to itself. */
  const problems = new Map<string, string>();
  const seen = witness({ clock, random, log, meter, late: () => statuses.request() }, signal);
  const isReadElsewhere = (name: string, kindKey: string) =>
    options.ownUid !== undefined && store.clusters.get(name)?.agent?.clusterUid === options.ownUid && kinds.isContributed(kindKey);
  const store: SnapshotStore = snapshotStore({
    kindOf: kinds.kindOf,
    isReadElsewhere,
    isRegistered,
    log,
    changed: (delta) => taken(delta),
  });
  const isServed = (name: string) => store.clusters.get(name)?.isServed === true;

  const agents = options.link({
    connected(name, agent) {
      store.connected(name, agent);
      notices.settings();
      shares.touch(name);
    },
    observed: (name, observation) => seen.observed(name, observation, () => store.observed(name, observation)),
    synced(name, complete) {
      store.synced(name, complete);
      shares.touch(name);
    },
    acknowledged(name, acknowledgement, wanted) {
      delivery.acknowledged(name, acknowledgement, wanted);
      seen.acknowledged(name, acknowledgement, wanted);
      shares.answered(name, wanted, { rejected: acknowledgement.rejected, held: delivery.heldIn(name) });
      statuses.request();
    },
    disconnected(name) {
      store.disconnected(name);
      shares.touch(name);
    },
  });
  const link: ServerLink = {
    disconnect: agents.disconnect,
    tell: agents.tell,
    want(name, wanted, why) {
      shares.want(name, wanted);
      agents.want(name, wanted, seen.wanted(name, wanted, why));
    },
  };

  const members = startMembership(
    {
      cluster,
      namespace,
      registration: kinds.registration,
      store: options.sharing?.store,
      link,
      registered(name) {
        store.registered(name);
        shares.touch(name);
      },
      removed(name) {
        for (const known of [store, delivery, shares, seen.lags, notices]) known.forget(name);
      },
      clock,
      random,
      log,
    },
    signal,
  );

  const changed = (delta: Delta) => {
    // What we derived ourselves is no news for translation; it only can have its status written now.
    const isNews = (resource: Resource) => !discoveryKinds.has(kindKeyOf(resource)) || !isOwnedBy(resource, discoveryOwner);
    taken({ put: delta.put.filter(isNews), remove: delta.remove });
    members.changed(delta);
    // What we publish is put back when somebody edits or deletes it, and so are statuses.
    writes.observed(delta);
    if (leadership.isLeader) news.observed(delta);
  };
  const view = viewCluster(
    { cluster, kinds: kinds.management, clock, random, log, keepsLastGood: (kind) => !kinds.isAsked(kind), changed },
    signal,
  );
  const writes = startLeaderWrites(
    {
      cluster,
      leadership,
      kinds: kinds.published,
      bulk: discoveryKinds,
      owners: [discoveryOwner, options.networkingOwner],
      live: () => view.snapshot,
      clock,
      random,
      log,
      meter,
      removals: seen.removals,
      settled: () => statuses.request(),
      gained() {
        news.startOver();
        reconcile.request();
      },
    },
    signal,
  );
  const core = reconciler({
    store,
    view: () => view,
    link,
    delivery,
    publisher: writes.publisher,
    published: new Set(kinds.published.map(kindKeyOf)),
    discoveryKinds,
    discoveryOwner,
    registration: kinds.registration,
    rememberedRequests: options.rememberedRequests,
    translation: { ...options.translation, namespace },
    log,
    clock,
    meter,
  });

  const news = statusUpdates({
    problemIn: (name) => problems.get(name),
    delivery,
    lateSince: seen.lags.lateSince,
    view: () => view,
    store,
    kinds,
  });
  let judged: Statuses | undefined;
  const notices = agentNotices({
    link,
    clusters: () => store.clusters,
    settingsFor: (name) => (view.isComplete ? options.settingsToTell(view.snapshot, name) : undefined),
    isContributed: kinds.isContributed,
  });

  const resumption = deleteResumption({
    heldIn: delivery.heldIn,
    isServed,
    tell: options.resumeDeletes,
    log,
    changed: () => statuses.request(),
  });

  const shares = options.sharing === undefined ? noSharing : startSharing({ ...options.sharing, ...sharingOptions() }, signal);

  const reconcile = coalesced(
    () => {
      if (!view.isComplete) return;
      notices.settings();
      if (!shares.isLoaded) return;
      seen.reconciled(core.run);
      if (core.world !== undefined) shares.want("", core.world.networking.inCluster(""));
      statuses.request();
    },
    { clock, pauseMs: BATCH_MS },
    signal,
  );
  const statuses = coalesced(
    async () => {
      if (!view.isComplete) return;
      resumption.check(view.snapshot.of(kinds.registration));
      const ids = seen.takeForStatuses();
      if (core.world !== undefined) judged = statusesAfter(core.world, delivery.state, judged);
      // What another replica leads is its to write: when this one gains the lead, it starts over.
      const updates = leadership.isLeader ? news.next({ statuses: judged, resumed: resumed(), now: clock.now() }) : [];
      if (judged !== undefined) notices.statuses(judged);
      for (let from = 0; from < updates.length; from += STATUS_SLICE) {
        // Of a fleet that has just been heard there are many: others get their turn in between.
        if (from > 0) await clock.sleep(0, signal).catch(() => undefined);
        writes.writeStatuses(updates.slice(from, from + STATUS_SLICE), ids);
      }
    },
    { clock, pauseMs: BATCH_MS },
    signal,
  );

  function sharingOptions(): Omit<SharingOptions, "store" | "replica"> {
    return {
      snapshots: store,
      isReady: () => view.isComplete,
      isRegistered,
      leadership,
      link: () => link,
      resumedDeletes: (name) => resumption.resumed.get(name),
      delivered(name, answer, wanted) {
        delivery.told(name, answer, wanted);
        if (wanted !== undefined) seen.lags.acknowledged(name, wanted);
        statuses.request();
      },
      loaded: () => reconcile.request(),
      clock,
      random,
      log,
    };
  }

  /** Words of users that were passed on, by this replica or by the one that has the agent. */
  function resumed(): ReadonlyMap<string, string> {
    const words = new Map(resumption.resumed);
    for (const [name, { resumedDeletes }] of shares.told)
      if (resumedDeletes !== undefined && !isServed(name)) words.set(name, resumedDeletes);
    return words;
  }

  function taken(delta: Delta): void {
    seen.merged(delta);
    core.take(delta);
    shares.changed();
    reconcile.request();
  }

  function isRegistered(clusterName: string): boolean {
    return view.snapshot.of(kinds.registration).get({ name: clusterName, namespace, clusterName: "" }) !== undefined;
  }

  return {
    view,
    store,
    get world() {
      return core.world;
    },
    removals: seen.removals,
    sharing: shares,
    revokedBefore: members.revokedBefore,
    cannotConnect(clusterName, problem) {
      if (problem === undefined) problems.delete(clusterName);
      else problems.set(clusterName, problem);
      statuses.request();
    },
    metrics: () => [
      ...serverMetrics({ store, delivery, lags: seen.lags, world: core.world, queues: writes.queues(), now: clock.now() }),
      ...shares.metrics(),
    ],
    ended: Promise.all([view.ended, writes.ended, reconcile.ended, statuses.ended, shares.ended, members.ended]).then(() => undefined),
  };
}

// Changes come in bursts (a Deployment brings pods and slices): a short pause turns a burst into one run and stays below
// what a person notices.
const BATCH_MS = 20;
// Each is compared with what is written: about 5 ms in all.
const STATUS_SLICE = 500;
