import {
  applied,
  type Clock,
  type Delta,
  emptySnapshot,
  isEmpty,
  joined,
  type Kind,
  type Log,
  type Meter,
  type Owner,
  type Resource,
  refOf,
  resourceKeyOf,
  type Snapshot,
  type Steps,
} from "@isthmus/core";
import {
  isInScope,
  newReports,
  publicationScopeOf,
  publicationScopeSource,
  rescoped,
  type TranslateOptions,
  translation,
  type World,
} from "@isthmus/translators";
import type { ClusterView } from "../clusterView.ts";
import type { ServerLink } from "../ports.ts";
import { inSlices } from "../slices.ts";
import { type Admitted, admission, type Origin } from "./admission.ts";
import type { DeliveryLog } from "./delivery.ts";
import { nothingPublished, publicationOf } from "./publication.ts";
import type { Publisher } from "./publisher.ts";
import { nothingRecalled, recallDelta, recalledObjects } from "./recalled.ts";
import { noRequestsRecalled, type RequestSources, recalledRequests, requestDelta } from "./recalledRequests.ts";
import { evidenceFor } from "./removalEvidence.ts";
import { countFindings } from "./serverMetrics.ts";
import { type SnapshotStore, sizeOf } from "./snapshotStore.ts";

/** From everything known to what every cluster shall hold. */
export interface Reconciler {
  readonly world: World | undefined;
  /** Clusters of which everything is known, and which the next turns translate. */
  readonly waiting: number;
  /** Takes in what changed, in the management cluster or in a workload cluster. */
  take(delta: Delta, origin: Origin): void;
  /** Translates what is known at this moment and hands the results on, a slice at a time. Rejects when aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface ReconcilerOptions {
  readonly store: SnapshotStore;
  readonly view: () => ClusterView;
  readonly link: ServerLink;
  readonly delivery: DeliveryLog;
  readonly publisher: Publisher;
  /** `kindKeyOf` of what is written into the management cluster. */
  readonly published: ReadonlySet<string>;
  readonly discoveryKinds: ReadonlySet<string>;
  readonly discoveryOwner: Owner;
  readonly registration: Kind;
  readonly rememberedRequests: RequestSources["rememberedRequests"];
  readonly memoryChanges: (now: World, before: World | undefined) => Delta;
  readonly translation: TranslateOptions;
  readonly clock: Clock;
  /** For how long, in ms, others may be kept waiting. */
  readonly sliceMs: number;
  readonly log: Log;
  readonly meter: Meter;
  /** Clusters have been translated for the first time. */
  readonly clustersJoined: () => void;
}

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
    rememberedRequests,
    memoryChanges,
    translation: translationOptions,
    clock,
    sliceMs,
    log,
    meter,
    clustersJoined,
  } = options;
  let world: World | undefined;
  let recalled = nothingRecalled;
  let requests = noRequestsRecalled;
  /** What is recalled and was changed or taken away in the inputs since. */
  const disturbed = new Set<string>();
  let publication = nothingPublished;
  /** A first translation that lacks clusters: the next one goes on from it. */
  let withheld: World | undefined;
  /** The clusters that it waits for. */
  let awaited = "";
  /** Clusters that have been told what is wanted of them. */
  let told: ReadonlySet<string> = new Set();
  const arrivals = admission();
  let inputs = emptySnapshot();
  let translated: Snapshot | undefined;

  /** Unknown is not empty: nothing is wanted of a cluster before everything in it is known, and translated. */
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

  /** Brings in what stands for clusters that are away, and takes it out again when they are back. */
  function recall(): void {
    const [before, requested] = [recalled, requests];
    const sources = { management: view().snapshot, discoveryKinds, silent: silent() };
    recalled = recalledObjects(before, { ...sources, owner: discoveryOwner });
    requests = recalledRequests(requested, { ...sources, rememberedRequests });
    const asked = requestDelta(requested, requests, store.snapshotIn);
    if (!isEmpty(asked)) inputs = inputs.apply(asked);
    const { put, remove } = recallDelta(before, recalled);
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
  function* takenUp({ arrivals: taken }: Admitted): Steps<void> {
    for (const delta of taken) {
      if ("wholes" in delta) {
        inputs = yield* joined(inputs, delta.wholes);
        continue;
      }
      if (recalled.objects.size > 0) {
        for (const ref of [...delta.put.map(refOf), ...delta.remove]) {
          const key = resourceKeyOf(ref);
          if (recalled.objects.has(key)) disturbed.add(key);
        }
      }
      inputs = yield* applied(inputs, delta);
    }
    recall();
  }

  function* turn(admitted: Admitted, known: readonly string[]): Steps<void> {
    const started = clock.now();
    yield* takenUp(admitted);
    const before = world;
    if (before !== undefined && inputs === translated) return yield* handOn(before, before, known);
    const now = yield* translation(inputs, translationOptions, before ?? withheld);
    withheld = before === undefined && publicationScopeOf(now) === "NONE" && isMissing(forgotten()) ? now : undefined;
    if (withheld !== undefined) return;
    meter.add("gloo_mesh_translations_total");
    meter.record("gloo_mesh_translation_time_sec", (clock.now() - started) / 1000);
    countFindings(meter, newReports(now, before));
    log.debug({ ms: clock.now() - started, outputs: now.networking.size, discovered: now.discovery.size }, "translated");
    yield* handOn(now, before, known);
    // Only now: what is told of a world is about what its clusters were asked for.
    world = now;
    translated = inputs;
    const { put, remove } = memoryChanges(now, before);
    if (put.length + remove.length > 0) inputs = inputs.apply({ put, remove });
    tellProgress(admitted, { known, ms: clock.now() - started });
  }

  async function run(signal: AbortSignal): Promise<void> {
    const admitted = arrivals.next(world === undefined, sizeOf(inputs));
    const known = [...store.clusters.keys()].filter(isKnown);
    await inSlices(turn(admitted, known), { clock, sliceMs }, signal);
  }

  function tellProgress({ joined: newcomers }: Admitted, { known, ms }: { readonly known: readonly string[]; readonly ms: number }): void {
    if (newcomers.length === 0) return;
    const figures = { joined: newcomers.length, clusters: known.length, waiting: arrivals.waiting, ms };
    log.info(figures, `translated ${newcomers.length} more clusters in ${ms} ms: ${known.length} are known, ${arrivals.waiting} wait`);
    clustersJoined();
  }

  function isMissing(clusters: readonly string[]): boolean {
    const names = clusters.join(", ");
    if (names !== awaited && names !== "") {
      const remedy = "connect their agents, or delete the KubernetesCluster of one that is gone for good";
      log.warn({ clusters }, `nothing is written until ${names} have reported, as discovery.publish is NONE in the Settings: ${remedy}`);
    }
    awaited = names;
    return names !== "";
  }

  /** Clusters of which nothing changed get the same set again, which costs nothing. */
  function* handOn(now: World, before: World | undefined, known: readonly string[]): Steps<void> {
    // A cluster that has just joined is not to wait behind what its coming changes in all others.
    const inOrder = [...known].sort((a, b) => Number(told.has(a)) - Number(told.has(b)));
    told = new Set(known);
    for (const clusterName of inOrder) {
      yield;
      // Forgotten meanwhile, or just being heard for the first time after that.
      if (!isKnown(clusterName)) continue;
      const wanted = now.networking.inCluster(clusterName);
      delivery.wanted(clusterName, wanted);
      link.want(clusterName, wanted, { evidenceOf: (ref) => evidenceFor(ref, { before, now, registration }) });
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
    yield* publisher.publish(publication.wanted, (resource) => {
      const ref = refOf(resource);
      const source = publicationScopeSource(now);
      // Still discovered: it goes because so much is not to be published.
      if (source !== undefined && now.discovery.get(ref) !== undefined) return { reason: "InputChanged", inputs: [source] };
      return evidenceFor(ref, { before, now, registration });
    });
  }

  return {
    get world() {
      return world;
    },
    get waiting() {
      return arrivals.waiting;
    },
    take: arrivals.take,
    run,
  };
}

/** Whether an agent of a registered cluster has ever been here: what it said of itself stays in the cluster's status. */
function wasHeard(registration: Resource): boolean {
  return (registration as { readonly status?: { readonly agent?: object } }).status?.agent !== undefined;
}
