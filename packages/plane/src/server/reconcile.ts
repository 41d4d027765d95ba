import { type Delta, emptySnapshot, isEmpty, type Kind, kindKeyOf, type Owner, type Resource, refOf, type Snapshot } from "@isthmus/core";
import { type TranslateOptions, translate, type World } from "@isthmus/translators";
import type { ClusterView } from "../clusterView.ts";
import type { Clock, Log, ServerLink } from "../ports.ts";
import type { DeliveryLog } from "./delivery.ts";
import { byKey, type Publisher } from "./publisher.ts";
import { recalledObjects, republished } from "./recalled.ts";
import type { SnapshotStore } from "./snapshotStore.ts";
import { evidenceFor, wantedIn } from "./wanted.ts";

/** From everything known to what every cluster shall hold. */
export interface Reconciler {
  readonly world: World | undefined;
  /** Takes in what changed, in the management cluster or in a workload cluster. */
  take(delta: Delta): void;
  /** Translates what is known and hands the results on. Says whether anything was new. */
  run(): boolean;
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
  readonly translation: TranslateOptions;
  readonly clock: Clock;
  readonly log: Log;
}

export function reconciler(options: ReconcilerOptions): Reconciler {
  const { store, view, link, delivery, publisher, published, discoveryKinds, discoveryOwner, registration, translation, clock, log } =
    options;
  let world: World | undefined;
  let recalled: ReadonlyMap<string, Resource> = new Map();
  const republishing = new Map<string, Resource>();
  let inputs = emptySnapshot();
  let translated: Snapshot | undefined;

  /** Clusters that are registered: those of other namespaces are somebody else's. */
  function registered(): string[] {
    return [...view().snapshot.of(registration)]
      .filter(({ metadata }) => metadata.namespace === translation.namespace)
      .map(({ metadata }) => metadata.name);
  }

  /** Brings in what stands for clusters that are away, and takes it out again when they are back. */
  function recall(): void {
    const next = recalledObjects({
      before: recalled,
      management: view().snapshot,
      discoveryKinds,
      owner: discoveryOwner,
      registered: registered(),
      clusters: store.clusters,
    });
    if (next.size === 0 && recalled.size === 0) return;
    const remove = [...recalled].filter(([key]) => !next.has(key)).map(([, resource]) => refOf(resource));
    inputs = inputs.apply({ put: [...next.values()], remove });
    recalled = next;
  }

  /** What is recalled, to be published as it was: each object keeps its identity as long as it is recalled. */
  function remembered(): ReadonlyMap<string, Resource> {
    for (const key of [...republishing.keys()]) if (!recalled.has(key)) republishing.delete(key);
    for (const [key, resource] of recalled) if (!republishing.has(key)) republishing.set(key, republished(resource));
    return republishing;
  }

  function run(): boolean {
    recall();
    const before = world;
    if (before !== undefined && inputs === translated) {
      handOn(before, before);
      return false;
    }
    const started = clock.now();
    const now = translate(inputs, translation, before);
    world = now;
    translated = inputs;
    log.debug({ ms: clock.now() - started, outputs: now.networking.size, discovered: now.discovery.size }, "translated");
    handOn(now, before);
    return true;
  }

  function handOn(now: World, before: World | undefined): void {
    for (const [clusterName, { phase }] of store.clusters) {
      // Unknown is not empty: nothing is wanted of a cluster before everything in it is known.
      if (phase === "unknown") continue;
      const wanted = wantedIn(now.networking, clusterName);
      delivery.wanted(clusterName, wanted);
      link.want(clusterName, wanted, (ref) => evidenceFor(ref, { before, now, registration }));
    }
    publish(now, before);
  }

  function publish(now: World, before: World | undefined): void {
    const own = [...wantedIn(now.networking, "")].filter(([, resource]) => published.has(kindKeyOf(resource)));
    publisher.publish(new Map([...remembered(), ...byKey(now.discovery), ...own]), (resource) =>
      evidenceFor(refOf(resource), { before, now, registration }),
    );
  }

  return {
    get world() {
      return world;
    },
    take(delta) {
      if (!isEmpty(delta)) inputs = inputs.apply(delta);
    },
    run,
  };
}
