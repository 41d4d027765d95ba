import {
  type Clock,
  equalJson,
  type Log,
  type Metric,
  type MetricLabels,
  type MetricName,
  messageOf,
  type OutputSet,
  uptimeOf,
} from "@isthmus/core";
import { type KindDigest, type Leadership, type ServerLink, type Store, StoreError } from "@isthmus/ports";
import { startWorkQueue } from "../runtime/workQueue.ts";
import type { ClusterState, SnapshotStore } from "../snapshots/snapshotStore.ts";
import { type ClusterMeta, MOST_REJECTIONS, metaJson, type ReportedDelivery } from "./clusterMeta.ts";
import { inputSharing } from "./inputSharing.ts";
import { outputDigests } from "./outputDigests.ts";
import { outputSharing } from "./outputSharing.ts";
import { BEAT_MS, replicas } from "./replicas.ts";
import { type KnownRoom, storeRoom, watchedStore } from "./storeRoom.ts";

/** What this replica shares with the others through a store. Nothing in it is waited for by the loops, but the first reading. */
export interface Sharing {
  /** Names this replica among all that run or ran. */
  readonly instance: string;
  /**
   * Whether what the store knew at the start has been read, or could not be: until then nothing is translated, as it would
   * be without clusters that another replica knows.
   */
  readonly isLoaded: boolean;
  /** Why the store does not answer now; undefined while it does. */
  readonly outage: string | undefined;
  /** What the store has room for. */
  readonly room: KnownRoom;
  /** The store, watched for room by all who write to it; undefined: there is none. */
  readonly store: Store | undefined;
  /** Something happened to a cluster: its agent came, went, reported or answered, or it was registered. */
  touch(clusterName: string): void;
  /** What was reported may have changed. */
  changed(): void;
  forget(clusterName: string): void;
  setDesired(clusterName: string, wanted: OutputSet): void;
  /** The agent of a cluster, connected here, has answered a set. */
  answered(clusterName: string, wanted: OutputSet, delivered: Omit<ReportedDelivery, "digest">): void;
  /** What other replicas say of the clusters that they serve. */
  readonly replicated: ReadonlyMap<string, ClusterMeta>;
  /** Digests of what is desired, by cluster: equal on replicas that know the same. */
  readonly digests: ReadonlyMap<string, KindDigest>;
  metrics(): readonly Metric[];
  readonly ended: Promise<void>;
}

export interface SharingOptions {
  readonly store: Store;
  /** Name of this replica. */
  readonly replica: string;
  /** Version of its program, for those who look at replicas from outside. Default: it does not say. */
  readonly version?: string;
  readonly snapshots: SnapshotStore;
  /** Whether the management cluster is known: before, nobody is registered. */
  readonly isReady: () => boolean;
  readonly isRegistered: (clusterName: string) => boolean;
  readonly leadership: Leadership;
  readonly link: () => ServerLink;
  /** For which approval of a user the agent of a cluster was asked to carry out what it has on hold. */
  readonly resumedDeletes: (clusterName: string) => string | undefined;
  /** What another replica says of a delivery: `wanted` is what was answered, undefined while it is none that is known here. */
  readonly delivered: (clusterName: string, delivered: ReportedDelivery, wanted: OutputSet | undefined) => void;
  /** What the store says of an agent's last answer, whether or not the answered set is known. */
  readonly answeredBefore: (clusterName: string, delivered: ReportedDelivery) => void;
  /** The first reading is over. */
  readonly loaded: () => void;
  /** `outage` or what a status says of `room` changed. */
  readonly outageChanged: () => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/**
 * Reads the clusters of the store once `isReady`, and from then on exchanges changes and heartbeats (each 5 s) until `signal` is aborted. A
 * store that fails is retried; the first reading is given up after 5 s without an answer, or 4 minutes without progress.
 */
export function startSharing(options: SharingOptions, signal: AbortSignal): Sharing {
  const { store: given, replica, version, snapshots, isReady, isRegistered, leadership, link, clock, random, log } = options;
  const instance = `${replica}-${Math.floor(random() * 2 ** 40).toString(36)}`;
  const room = storeRoom({ store: given, clock, log, changed: options.outageChanged });
  const store = watchedStore(given, room);
  const others = replicas(store, instance);
  const digests = new Map<string, KindDigest>();
  const digester = outputDigests(clock);
  /** The last few sets that were desired in a cluster, by digest: one of them is what its agent answers elsewhere. */
  const recent = new Map<string, Map<string, OutputSet>>();
  const wants = new Map<string, OutputSet>();
  const deliveries = new Map<string, ReportedDelivery>();
  /** What was handed on last of other replicas' deliveries. */
  const handedOn = new Map<string, { readonly delivered: ReportedDelivery; readonly wanted: OutputSet | undefined }>();
  /** What another replica had said of a cluster when its agent last answered here: that is older than the answer. */
  const saidBefore = new Map<string, ReportedDelivery | undefined>();
  /** Clusters that the store had at the start and that have not been read yet. */
  let unread: Set<string> | undefined;
  let isLoaded = false;
  let storeId: string | undefined;
  let outage: string | undefined;
  let failures = 0;
  let loadedClusters = 0;
  /** When what waits began to wait, by name. */
  const waitingSince = new Map<string, number>();
  const startedAt = uptimeOf(clock);
  let progressAt = startedAt;

  const queue = startWorkQueue<Work>({ workers: WORKERS, retry: RETRY, work: attempt, clock, random }, signal);

  function wake(name: string, work: Work): void {
    if (!waitingSince.has(name)) waitingSince.set(name, uptimeOf(clock));
    queue.set(name, work);
  }

  async function attempt(name: string, work: Work): Promise<"done" | "again"> {
    try {
      const since = waitingSince.get(name);
      const isLater = (await work()) === "later";
      if (!isLater && !queue.has(name) && waitingSince.get(name) === since) waitingSince.delete(name);
      room.ended(name);
      answering();
      return "done";
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.isFull) refused(name, error);
      else failed(error);
      return "again";
    }
  }

  /** It answers: so it is up, and others are written. */
  function refused(name: string, error: StoreError): void {
    failures++;
    room.ended(name, error);
    answering();
  }

  function failed(error: StoreError): void {
    failures++;
    const message = messageOf(error);
    if (outage === undefined) log.warn({ waiting: waitingSince.size }, `${message}; continuing from memory, and retrying`);
    if (outage === message) return;
    outage = message;
    options.outageChanged();
  }

  function answering(): void {
    if (outage === undefined) return;
    log.info({ waiting: waitingSince.size }, "the store is available again");
    outage = undefined;
    options.outageChanged();
  }

  const inputs = inputSharing({
    store,
    instance,
    snapshots,
    isRegistered,
    areRegistrationsKnown: isReady,
    isAlive: (name) => others.alive.has(name),
    leads: () => leadership.isLeader,
    meta: (clusterName, isHeard) => metaJson(metaFor(clusterName, isHeard)),
    link,
    wake: wakeInput,
    onReport: (clusterName) => deliver(clusterName),
    onEarlierReport: (clusterName, { delivered }) => answeredBefore(clusterName, delivered),
    clock,
    log,
  });
  const outputs = outputSharing({
    store,
    instance,
    leads: () => leadership.isLeader,
    wake: (clusterName) => wake(`translated/${clusterName}`, () => outputs.work(clusterName)),
    clock,
    log,
  });

  function wakeInput(clusterName: string): void {
    wake(`input/${clusterName}`, async () => {
      if ((await inputs.work(clusterName)) === "later") return "later";
      if (unread?.delete(clusterName) === true) {
        loadedClusters++;
        progress();
      }
      return "done";
    });
  }

  function progress(): void {
    if (unread === undefined || isLoaded) return;
    progressAt = uptimeOf(clock);
    const total = loadedClusters + unread.size;
    const ms = uptimeOf(clock) - startedAt;
    if (unread.size > 0) {
      if (loadedClusters % Math.max(1, Math.ceil(total / 10)) === 0) {
        log.info({ clusters: loadedClusters, of: total, ms }, `read ${loadedClusters} of ${total} clusters from the store`);
      }
      return;
    }
    finishLoading(`read ${loadedClusters} clusters from the store in ${ms} ms`);
  }

  function finishLoading(message: string): void {
    isLoaded = true;
    log.info({ clusters: loadedClusters }, message);
    options.loaded();
  }

  function metaFor(clusterName: string, isHeard: boolean): ClusterMeta {
    const { phase, connected, agent, excess }: Partial<ClusterState> = snapshots.clusters.get(clusterName) ?? {};
    const delivered = deliveries.get(clusterName);
    const resumedDeletes = options.resumedDeletes(clusterName);
    return {
      servedBy: instance,
      phase: phase === "synced" ? "synced" : "stale",
      connected: connected === true,
      isHeard,
      ...(agent === undefined ? {} : { agent }),
      ...(excess === undefined ? {} : { excess }),
      ...(delivered === undefined ? {} : { delivered }),
      ...(resumedDeletes === undefined ? {} : { resumedDeletes }),
    };
  }

  function answeredBefore(clusterName: string, delivered: ReportedDelivery | undefined): void {
    // What this replica has heard itself is newer.
    if (delivered !== undefined && !deliveries.has(clusterName)) options.answeredBefore(clusterName, delivered);
  }

  /** Hands on what another replica says of a cluster's deliveries, once it is clear what was answered. */
  function deliver(clusterName: string): void {
    const delivered = inputs.reported.get(clusterName)?.delivered;
    if (delivered === undefined) return;
    answeredBefore(clusterName, delivered);
    if (snapshots.clusters.get(clusterName)?.isServed === true || delivered === saidBefore.get(clusterName)) return;
    const wanted = recent.get(clusterName)?.get(delivered.digest);
    const last = handedOn.get(clusterName);
    if (last !== undefined && last.wanted === wanted && equalJson(last.delivered, delivered)) return;
    handedOn.set(clusterName, { delivered, wanted });
    options.delivered(clusterName, delivered, wanted);
  }

  async function digest(clusterName: string): Promise<void> {
    const wanted = wants.get(clusterName);
    if (wanted === undefined) return;
    const known = await digester.digestOf(clusterName, wanted);
    // Forgotten meanwhile.
    if (!wants.has(clusterName)) return;
    digests.set(clusterName, known);
    const sets = recent.get(clusterName) ?? new Map<string, OutputSet>();
    sets.delete(known.digest);
    sets.set(known.digest, wanted);
    for (const old of [...sets.keys()].slice(0, Math.max(0, sets.size - RECENT))) sets.delete(old);
    recent.set(clusterName, sets);
    deliver(clusterName);
  }

  async function beat(): Promise<void> {
    const { digest: all } = digester.total();
    const said = version === undefined ? {} : { version };
    const isNews = await others.beat({ leads: leadership.isLeader, digest: all, clusters: snapshots.clusters.size, ...said });
    await room.ask();
    const overview = await inputs.compare();
    await outputs.compare();
    if (isNews) inputs.replicasChanged();
    if (storeId !== undefined && storeId !== overview.id) log.warn({}, "the store was flushed: writing it again from memory");
    storeId = overview.id;
    answering();
    if (unread !== undefined) return;
    unread = new Set([...overview.versions.keys()].filter(isRegistered));
    for (const clusterName of unread) wakeInput(clusterName);
    progress();
  }

  /** What cannot be read is unknown: that is safe, and better than to translate nothing. */
  function giveUp(): void {
    const patienceMs = unread === undefined ? PATIENCE_MS : READING_PATIENCE_MS;
    if (isLoaded || !isReady() || uptimeOf(clock) - progressAt <= patienceMs) return;
    log.warn({ clusters: [...(unread ?? [])] }, "cannot read the store: continuing without its content");
    unread ??= new Set();
    finishLoading(`read ${loadedClusters} clusters from the store`);
  }

  async function beats(): Promise<void> {
    while (!signal.aborted) {
      if (isReady()) {
        try {
          await beat();
          room.ended(OWN_RECORD);
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
          if (error.isFull) refused(OWN_RECORD, error);
          else failed(error);
        }
      }
      giveUp();
      await clock.sleep(isLoaded ? BEAT_MS : FIRST_BEAT_MS, signal).catch(() => undefined);
    }
  }

  store.subscribe((notice) => {
    inputs.hear(notice);
    if (notice.type === "missed") return wake("compare", () => inputs.compare().then(() => undefined));
    outputs.hear(notice);
  }, signal);
  const forget = leadership.onChange(() => {
    outputs.leadChanged();
    room.leadChanged();
  });

  return {
    instance,
    get isLoaded() {
      return isLoaded;
    },
    touch: inputs.touch,
    changed: inputs.changed,
    forget(clusterName) {
      room.forget(clusterName);
      inputs.forget(clusterName);
      outputs.forget(clusterName);
      for (const known of [digests, recent, wants, deliveries, handedOn, saidBefore]) known.delete(clusterName);
      digester.forget(clusterName);
    },
    setDesired(clusterName, wanted) {
      if (wants.get(clusterName) === wanted) return;
      wants.set(clusterName, wanted);
      outputs.setDesired(clusterName, wanted);
      wake(`digest/${clusterName}`, () => digest(clusterName));
    },
    answered(clusterName, wanted, { rejected, ...counts }) {
      // Instead of what was handed on: if another replica then says the same as before, that is news again.
      handedOn.delete(clusterName);
      saidBefore.set(clusterName, inputs.reported.get(clusterName)?.delivered);
      wake(`answered/${clusterName}`, async () => {
        const { digest: answered } = await digester.digestOf(clusterName, wanted);
        if (!wants.has(clusterName)) return;
        deliveries.set(clusterName, { ...counts, digest: answered, rejected: rejected.slice(0, MOST_REJECTIONS) });
        inputs.touch(clusterName);
      });
    },
    get outage() {
      return outage;
    },
    room,
    store,
    get replicated() {
      return inputs.reported;
    },
    digests,
    metrics() {
      const figure = (name: MetricName, value: number, labels: MetricLabels = {}): Metric => ({ name, labels, value });
      const oldest = Math.min(...waitingSince.values());
      return [
        figure("gloo_mesh_redis_sync_err_total", failures),
        figure("gloo_mesh_store_up", outage === undefined ? 1 : 0),
        ...(store.weaknesses === undefined ? [] : [figure("gloo_mesh_store_protected", store.weaknesses.length === 0 ? 1 : 0)]),
        ...room.metrics(),
        figure("gloo_mesh_store_lag_seconds", waitingSince.size === 0 ? 0 : (uptimeOf(clock) - oldest) / 1_000),
        figure("gloo_mesh_store_waiting", waitingSince.size),
        figure("gloo_mesh_store_clusters_to_read", isLoaded ? 0 : (unread?.size ?? 0)),
        figure("gloo_mesh_store_clusters_owned", inputs.owned.size),
        figure("gloo_mesh_store_replicas", others.alive.size),
        ...inputs.metrics(),
        // The first 48 bits: as many as a figure holds.
        ...[...digests].map(([cluster, { digest: text }]) =>
          figure("gloo_mesh_wanted_digest", Number.parseInt(text.slice(0, 12), 16), { cluster }),
        ),
      ];
    },
    ended: Promise.all([queue.ended, beats()]).then(() => {
      forget();
      others
        .leave()
        .catch((error: unknown) =>
          log.debug({ instance }, `${messageOf(error)}; the other replicas will notice that this replica has stopped`),
        );
    }),
  };
}

/** Does what waits; gives `later` where it continues waiting. */
type Work = () => Promise<unknown>;

/** What this replica says of itself. */
const OWN_RECORD = "replica";
const WORKERS = 8;
const RETRY = { firstMs: 200, lastMs: 5_000 };
const FIRST_BEAT_MS = 200;
// For a store that is just starting, too.
const PATIENCE_MS = 5_000;
// Longer than any cluster takes to be read.
const READING_PATIENCE_MS = 240_000;
const RECENT = 8;
