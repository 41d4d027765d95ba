import {
  applyDelta,
  type Clock,
  type CooperativeTask,
  type Delta,
  emptySnapshot,
  formatRef,
  isEmpty,
  isOwnedBy,
  type Kind,
  type Log,
  type Meter,
  mergeSnapshots,
  type Owner,
  type Resource,
  type ResourceRef,
  refOf,
  resourceKeyOf,
  type Snapshot,
  uptimeOf,
} from "@isthmus/core";
import type { DeletionEvidence, ServerLink } from "@isthmus/ports";
import {
  isInScope,
  newFaults,
  newReports,
  publicationScopeOf,
  publicationScopeSource,
  rescoped,
  type TranslateOptions,
  type Translation,
  translateInSteps,
} from "@isthmus/translators";
import type { Informer } from "../informer/informer.ts";
import { runTimeSliced } from "../runtime/timeSlices.ts";
import { type ChangeOrigin, type JoinBatch, joinQueue } from "../snapshots/joinQueue.ts";
import { countObjects, type SnapshotStore } from "../snapshots/snapshotStore.ts";
import { deletionCausesFor } from "./deletionCauses.ts";
import type { DeliveryLog } from "./delivery.ts";
import { lastKnownDelta, lastKnownObjects, noLastKnownObjects } from "./lastKnownObjects.ts";
import { nothingPublished, publicationOf } from "./publication.ts";
import { type LastKnownRequestSources, lastKnownRequestDelta, noLastKnownRequests, publishedRequests } from "./publishedRequests.ts";
import type { Publisher } from "./publisher.ts";
import { countFindings } from "./serverMetrics.ts";
import type { ServerOptions } from "./serverOptions.ts";

/** From everything known to what every cluster shall hold. */
export interface Reconciler {
  readonly translation: Translation | undefined;
  /** Clusters of which everything is known, and which the next turns translate. */
  readonly waiting: number;
  /** Takes in what changed, in the management cluster or in a workload cluster. */
  take(delta: Delta, origin: ChangeOrigin): void;
  /** Translates what is known at this moment and hands the results on, a slice at a time. Rejects when aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ReconcilerOptions {
  readonly store: SnapshotStore;
  readonly view: () => Informer;
  readonly link: ServerLink;
  readonly delivery: DeliveryLog;
  readonly publisher: Pick<Publisher, "publish">;
  /** `kindKeyOf` of what is written into the management cluster. */
  readonly published: ReadonlySet<string>;
  readonly discoveryKinds: ReadonlySet<string>;
  readonly discoveryOwner: Owner;
  readonly registration: Kind;
  readonly lastKnownRequests: LastKnownRequestSources["lastKnownRequests"];
  readonly memory: ServerOptions["memory"];
  readonly translation: TranslateOptions;
  /** Clusters that others are to call no more. */
  readonly offline: () => ReadonlySet<string>;
  readonly clock: Clock;
  /** For how long, in ms, others may be kept waiting. */
  readonly sliceMs: number;
  readonly log: Log;
  readonly meter: Meter;
}

/** Until there is a translation, a `run` takes up all that is known; after that, what changed, and clusters that join, a few at a time. */
export function reconciler(options: ReconcilerOptions): Reconciler {
  const {
    store,
    view,
    link,
    delivery,
    publisher,
    published,
    discoveryKinds,
    discoveryOwner,
    registration,
    lastKnownRequests,
    memory,
    translation: translationOptions,
    offline,
    clock,
    sliceMs,
    log,
    meter,
  } = options;
  let world: Translation | undefined;
  let recalled = noLastKnownObjects;
  /** When the management cluster was last looked at, by `uptimeOf`. */
  let recalledAt = 0;
  let requests = noLastKnownRequests;
  /** What is recalled and was changed or taken away in the inputs since. */
  const disturbed = new Set<string>();
  let publication = nothingPublished;
  /** A first translation that lacks clusters: the next one continues from it. */
  let withheld: Translation | undefined;
  /** The clusters that it waits for. */
  let awaited = "";
  /** Clusters whose desired state was sent. */
  let told: ReadonlySet<string> = new Set();
  const arrivals = joinQueue();
  let inputs = emptySnapshot();
  let translated: Snapshot | undefined;
  let excluded: ReadonlySet<string> | undefined;

  /** Unknown is not empty: nothing is desired of a cluster before everything in it is known, and translated. */
  function isKnown(clusterName: string): boolean {
    return (store.clusters.get(clusterName)?.phase ?? "unknown") !== "unknown" && !arrivals.waits(clusterName);
  }

  /** Clusters that are registered, and of which nothing is known: those of other namespaces are somebody else's. */
  function silent(): ReadonlySet<string> {
    const names = new Set<string>();
    for (const { metadata } of view().snapshot.of(registration)) {
      if (metadata.namespace !== translationOptions.namespace) continue;
      if (!isKnown(metadata.name)) names.add(metadata.name);
    }
    return names;
  }

  /** Brings in what stands for clusters that are offline, and takes it out again when they are back. */
  function recall(): void {
    const [before, requested] = [recalled, requests];
    const sources = { management: view().snapshot, discoveryKinds, silent: silent() };
    recalledAt = uptimeOf(clock);
    recalled = lastKnownObjects(before, { ...sources, owner: discoveryOwner });
    requests = publishedRequests(requested, { ...sources, lastKnownRequests });
    const asked = lastKnownRequestDelta(requested, requests, store.snapshotIn);
    if (!isEmpty(asked)) inputs = inputs.apply(asked);
    const { put, remove } = lastKnownDelta(before, recalled);
    const restored = [...disturbed].flatMap((key) => recalled.objects.get(key) ?? []);
    disturbed.clear();
    if (put.length + remove.length + restored.length > 0) inputs = inputs.apply({ put: [...put, ...restored], remove });
  }

  /**
   * Clusters of which nothing is known, though an agent of theirs was here before this server started. Where discovery is not
   * published nothing stands for them: what was made of them elsewhere would be taken away.
   */
  function forgotten(): readonly string[] {
    return [...view().snapshot.of(registration)]
      .filter((cluster) => recalled.silent.has(cluster.metadata.name) && wasHeard(cluster))
      .map(({ metadata }) => metadata.name);
  }

  /** Takes up what the turn is about. What comes later waits for the next one: nothing that a turn reads changes meanwhile. */
  function* takenUp({ arrivals: taken }: JoinBatch): CooperativeTask<void> {
    for (const delta of taken) {
      if ("wholes" in delta) {
        inputs = yield* mergeSnapshots(inputs, delta.wholes);
        continue;
      }
      if (recalled.objects.size > 0) {
        for (const ref of [...delta.put.map(refOf), ...delta.remove]) {
          const key = resourceKeyOf(ref);
          if (recalled.objects.has(key)) disturbed.add(key);
        }
      }
      inputs = yield* applyDelta(inputs, delta);
    }
    recall();
  }

  /**
   * Whether what is remembered is published still: it is remembered until that is gone, by this replica as by one that starts then. Else they
   * would not want the same of a cluster that is registered again.
   */
  function isPublished(remembered: ResourceRef): boolean {
    const { name, namespace } = remembered;
    return [...discoveryKinds].some((kindKey) => {
      const found = view().snapshot.collections().get(kindKey)?.get({ name, namespace, clusterName: "" });
      const ref = found === undefined || !isOwnedBy(found, discoveryOwner) ? undefined : memory.refOf(refOf(found));
      return ref !== undefined && resourceKeyOf(ref) === resourceKeyOf(remembered);
    });
  }

  function* turn(admitted: JoinBatch, known: readonly string[]): CooperativeTask<void> {
    const started = clock.now();
    yield* takenUp(admitted);
    const before = world;
    const offlineNow = offline();
    if (before !== undefined && inputs === translated && excluded === offlineNow) return yield* handOn(before, before, known);
    const now = yield* translateInSteps(inputs, { ...translationOptions, offline: offlineNow }, before ?? withheld);
    withheld = before === undefined && publicationScopeOf(now) === "NONE" && isMissing(forgotten()) ? now : undefined;
    if (withheld !== undefined) return;
    meter.add("gloo_mesh_translations_total");
    meter.record("gloo_mesh_translation_time_sec", (clock.now() - started) / 1000);
    countFindings(meter, newReports(now, before));
    for (const { ref, error } of newFaults(now, before)) {
      log.error({ cluster: ref.clusterName, error }, `internal error in translation of ${formatRef(ref)}; other objects are not affected`);
    }
    log.debug({ ms: clock.now() - started, outputs: now.networking.size, discovered: now.discovery.size }, "translated");
    yield* handOn(now, before, known);
    // Only now: what is reported of a translation is about what its clusters were asked for.
    world = now;
    translated = inputs;
    excluded = offlineNow;
    const { put, remove: gone } = memory.changes(now, before);
    const remove = gone.filter((ref) => !isPublished(ref));
    if (put.length + remove.length > 0) inputs = inputs.apply({ put, remove });
    tellProgress(admitted, { known, ms: clock.now() - started });
  }

  async function run(signal: AbortSignal): Promise<void> {
    const admitted = arrivals.next(world === undefined, countObjects(inputs));
    const known = [...store.clusters.keys()].filter(isKnown);
    await runTimeSliced(turn(admitted, known), { clock, sliceMs }, signal);
  }

  function tellProgress({ joined: newcomers }: JoinBatch, { known, ms }: { readonly known: readonly string[]; readonly ms: number }): void {
    if (newcomers.length === 0) return;
    const figures = { joined: newcomers.length, clusters: known.length, waiting: arrivals.waiting, ms };
    log.info(
      figures,
      `first translation of ${newcomers.length} ${newcomers.length === 1 ? "cluster" : "clusters"} took ${ms} ms (synced: ${known.length}, queued: ${arrivals.waiting})`,
    );
  }

  function isMissing(clusters: readonly string[]): boolean {
    const names = clusters.join(", ");
    if (names !== awaited && names !== "") {
      const remedy = "connect their agents, or delete the KubernetesCluster of a cluster that no longer exists";
      log.warn(
        { clusters },
        `nothing is written until the agents of ${names} have completed their full sync, because discovery.publish is NONE in the Settings: ${remedy}`,
      );
    }
    awaited = names;
    return names !== "";
  }

  /** Clusters of which nothing changed get the same set again, which costs nothing. */
  function* handOn(now: Translation, before: Translation | undefined, known: readonly string[]): CooperativeTask<void> {
    // A cluster that has just joined is not to wait behind what its coming changes in all others.
    const inOrder = [...known].sort((a, b) => Number(told.has(a)) - Number(told.has(b)));
    told = new Set(known);
    for (const clusterName of inOrder) {
      yield;
      // Forgotten meanwhile, or just being heard for the first time after that.
      if (!isKnown(clusterName)) continue;
      const wanted = now.networking.inCluster(clusterName);
      delivery.setDesired(clusterName, wanted);
      link.setDesired(clusterName, wanted, {
        evidenceOf: (ref) => deletionCausesFor(ref, { before, now, registration }),
        holdsSurplus: () => isPartMissing(now),
      });
    }
    publication = yield* publicationOf(
      {
        own: now.networking.inCluster(""),
        discovery: now.discovery,
        remembered: recalled.republished,
        isInScope: (resource) => isInScope(now, resource),
        rescoped: rescoped(now, before),
      },
      publication,
      published,
    );
    const evidenceOf = (resource: Resource): DeletionEvidence => {
      const ref = refOf(resource);
      const source = publicationScopeSource(now);
      // Still discovered: it goes because so much is not to be published.
      if (source !== undefined && now.discovery.get(ref) !== undefined) return { reason: "InputChanged", inputs: [source] };
      return deletionCausesFor(ref, { before, now, registration });
    };
    yield* publisher.publish(publication.desired, { management: recalled.management, takenAt: recalledAt, evidenceOf });
  }

  return {
    get translation() {
      return world;
    },
    get waiting() {
      return arrivals.waiting;
    },
    take: arrivals.take,
    run,
  };
}

/** Whether nothing stands for some object that translation throws on: what an earlier server made of it must not go as if nobody asked for it. */
function isPartMissing({ faults }: Translation): boolean {
  return [...faults.values()].some(({ inPlace }) => inPlace === undefined);
}

/** Whether an agent of a registered cluster has ever been here: what it said of itself stays in the cluster's status. */
function wasHeard(registration: Resource): boolean {
  return (registration as { readonly status?: { readonly agent?: object } }).status?.agent !== undefined;
}
