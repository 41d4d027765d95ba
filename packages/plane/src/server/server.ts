import { type Delta, isEmpty, kindKeyOf, type Metric, noMeter, refOf, resourceKeyOf, type Snapshot, snapshotOf } from "@isthmus/core";
import { judgement, type Statuses, type World } from "@isthmus/translators";
import { type ClusterView, viewCluster } from "../clusterView.ts";
import { coalesced } from "../coalesce.ts";
import { alwaysLeader } from "../leadership.ts";
import type { Door, ServerLink, ServerLinkHandler } from "../ports.ts";
import type { RemovalLog } from "../removalLog.ts";
import { inSlices, SLICE_MS } from "../slices.ts";
import type { Origin } from "./admission.ts";
import { deliveryLog } from "./delivery.ts";
import { startLeaderWrites } from "./leaderWrites.ts";
import { managementNews } from "./managementNews.ts";
import { startMembership } from "./membership.ts";
import { missingDefinitions } from "./missingDefinitions.ts";
import { agentNotices } from "./notices.ts";
import { publishedOf } from "./recalled.ts";
import { reconciler } from "./reconcile.ts";
import { areNamesOpen } from "./registrations.ts";
import { deleteResumption } from "./resumeDeletes.ts";
import { serverMetrics } from "./serverMetrics.ts";
import type { ServerOptions } from "./serverOptions.ts";
import { noSharing } from "./sharing/noSharing.ts";
import { type Sharing, type SharingOptions, startSharing } from "./sharing/sharing.ts";
import { type SnapshotStore, sizeOf, snapshotStore } from "./snapshotStore.ts";
import { statusUpdates } from "./statusUpdates.ts";
import { storeProtected } from "./storeProtected.ts";
import { witness } from "./witness.ts";

/** A running management server. */
export interface Server {
  readonly view: ClusterView;
  readonly store: SnapshotStore;
  /** The last translation, once there was one. */
  readonly world: World | undefined;
  /** The last removals, and why. */
  readonly removals: RemovalLog;
  /** Whether there is something to serve: there was a translation, and clusters can be registered. */
  readonly isReady: boolean;
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
  const slicing = { clock, sliceMs: options.sliceMs ?? SLICE_MS };
  const discoveryKinds = new Set(kinds.discovery.map(kindKeyOf));
  const delivery = deliveryLog();
  /** Of clusters that this server connects to itself. */
  const problems = new Map<string, string>();
  const seen = witness({ clock, random, log, meter, late: () => statuses.request() }, signal);
  const untranslated = managementNews({
    discovery: kinds.discovery,
    discoveryOwner,
    asTranslated: options.asTranslated,
    memory: options.memory,
  });
  const isReadElsewhere = (name: string, kindKey: string) =>
    options.ownUid !== undefined && store.clusters.get(name)?.agent?.clusterUid === options.ownUid && kinds.isContributed(kindKey);
  const store: SnapshotStore = snapshotStore({
    kindOf: kinds.kindOf,
    isReported: kinds.isReported,
    ages: { kinds: kinds.aged, now: () => clock.now(), areKept: options.sharing !== undefined },
    isReadElsewhere,
    // What is repeated of a cluster's objects has been read by then.
    isRegistered: (name) => (options.sharing !== undefined || view.isComplete) && isRegistered(name),
    repeated,
    log,
    changed: taken,
  });
  const isServed = (name: string) => store.clusters.get(name)?.isServed === true;

  const door: Door = {
    isAccepted: kinds.isReported,
    quota: () => options.agentQuota(view.snapshot),
    heldObjects: (name) => sizeOf(store.snapshotIn(name)),
    isHeld: (ref) => store.snapshotIn(ref.clusterName).collections().get(kindKeyOf(ref))?.get(ref) !== undefined,
  };
  const handler: ServerLinkHandler = {
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
    exceeded(name, excess) {
      store.exceeded(name, excess);
      shares.touch(name);
    },
  };
  const agents = options.link(handler, door);
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

  /** What was known of each kind when something last changed. */
  let known = "";
  let wasComplete = false;
  const changed = (delta: Delta) => {
    const untold = untranslated.of(delta);
    const nowKnown = [...view.kinds.values()].join();
    // That more is known is news by itself, even if the last kind to be read holds nothing but what we wrote.
    if (nowKnown !== known || isEmpty(delta) || !isEmpty(untold)) taken(untold, { clusterName: "" });
    known = nowKnown;
    members.changed(delta);
    // What we publish is put back when somebody edits or deletes it, and so are statuses.
    writes.observed(delta);
    if (leadership.isLeader) news.observed(delta);
    if (!wasComplete && view.isComplete) {
      wasComplete = true;
      // Agents may have been here before all of it was read.
      for (const { metadata } of view.snapshot.of(kinds.registration)) store.registered(metadata.name);
    }
    statuses.request();
  };
  const view = viewCluster({ cluster, kinds: kinds.management, clock, random, log, keepsLastGood: kinds.keepsLastGood, changed }, signal);
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
    memoryChanges: options.memory.changes,
    translation: { ...options.translation, namespace },
    log,
    ...slicing,
    meter,
    clustersJoined: options.clustersJoined ?? (() => undefined),
  });

  const ownConditions = [options.sharing === undefined ? undefined : storeProtected(options.sharing.store)].filter(
    (one) => one !== undefined,
  );
  const news = statusUpdates({
    problemIn: (name) => problems.get(name),
    areNamesOpen: () => areNamesOpen(view, namespace),
    delivery,
    lateSince: seen.lags.lateSince,
    alsoOf: (ref) => (resourceKeyOf(ref) === resourceKeyOf(options.ownStatus) ? ownConditions : []),
    view: () => view,
    store,
    kinds,
  });
  const definitions = missingDefinitions({ view: () => view, kinds, log });
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
    async () => {
      if (!view.isComplete) return;
      definitions.check();
      notices.settings();
      if (!shares.isLoaded) return;
      await seen.reconciled(async () => {
        await core.run(signal);
        return core.waiting === 0;
      });
      if (core.waiting > 0) reconcile.request();
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
      if (core.world !== undefined) judged = await inSlices(judgement(core.world, delivery.state, judged), slicing, signal);
      // What another replica leads is its to write: when this one gains the lead, it starts over.
      const updates = leadership.isLeader
        ? await inSlices(news.next({ statuses: judged, resumed: resumed(), now: clock.now() }), slicing, signal)
        : [];
      if (judged !== undefined) notices.statuses(judged);
      for (let from = 0; from < updates.length; from += STATUS_SLICE) {
        // Of a fleet that has just been heard there are many: others get their turn in between.
        if (from > 0) await clock.sleep(0, signal).catch(() => undefined);
        writes.writeStatuses(updates.slice(from, from + STATUS_SLICE), ids);
      }
    },
    { clock, pauseMs: BATCH_MS, restMs: STATUS_REST_MS },
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

  function taken(delta: Delta, origin: Origin): void {
    seen.merged(delta);
    core.take(delta, origin);
    shares.changed();
    reconcile.request();
  }

  /** What published statuses say of the policies of a cluster: a restart without a store finds their ages there. */
  function repeated(clusterName: string): Snapshot {
    const published = publishedOf(view.snapshot, kinds.discovery.map(kindKeyOf), clusterName);
    const requests = published.flatMap(options.rememberedRequests).filter(({ metadata }) => metadata.clusterName === clusterName);
    return snapshotOf([...new Map(requests.map((request) => [resourceKeyOf(refOf(request)), request])).values()]);
  }

  function isRegistered(clusterName: string): boolean {
    return view.snapshot.of(kinds.registration).get({ name: clusterName, namespace, clusterName: "" }) !== undefined;
  }

  return {
    view,
    store,
    get isReady() {
      return core.world !== undefined && !definitions.isUseless;
    },
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
      ...serverMetrics({
        store,
        delivery,
        lags: seen.lags,
        world: core.world,
        waiting: core.waiting,
        queues: writes.queues(),
        now: clock.now(),
      }),
      ...shares.metrics(),
    ],
    ended: Promise.all([view.ended, writes.ended, reconcile.ended, statuses.ended, shares.ended, members.ended]).then(() => undefined),
  };
}

// Changes come in bursts (a Deployment brings pods and slices): a short pause turns a burst into one run and stays below
// what a person notices.
const BATCH_MS = 20;
// A fleet answers one agent after the other: what is said of a change is written once or twice, not for each answer.
const STATUS_REST_MS = 200;
// Each is compared with what is written: about 3 ms in all.
const STATUS_SLICE = 300;
