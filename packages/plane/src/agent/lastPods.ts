import { Pod } from "@isthmus/api";
import { type Clock, type Delta, isEmpty, kindKeyOf, type Resource, type ResourceRef, refOf, resourceKeyOf, uptimeOf } from "@isthmus/core";
import { byOtherController, type Scope } from "@isthmus/translators";

/**
 * Reports the last pod of a controller for some minutes after it is gone, where nothing but its pods tells that the controller exists: a
 * restart of its only pod is no deletion (docs/decisions/0189). No endpoint follows from a pod, so none is kept.
 */
export interface LastPods {
  /** A change of the cluster, without removals that are reported later, and with those that are due. */
  filtered(delta: Delta): Delta;
}

export interface LastPodsOptions {
  /** Which namespaces are reported of: of any other nothing is kept. */
  readonly scope: () => Scope;
  /** Whether a namespace is known to be gone: nothing of it is kept. */
  readonly isGone: (namespace: string) => boolean;
  /** Called when removals are due: `filtered`, of nothing, has them. */
  readonly due: () => void;
  readonly clock: Clock;
}

/** A pod that is gone and still reported. */
interface KeptPod {
  readonly ref: ResourceRef;
  /** By `uptimeOf`, in milliseconds. */
  readonly until: number;
}

/** Knows no pod: the first change must be all that there is. Waits until `signal` is aborted. */
export function lastPods({ scope, isGone, due, clock }: LastPodsOptions, signal: AbortSignal): LastPods {
  /** The controller of each pod of such a controller, and those pods by controller: all by `resourceKeyOf`. */
  const controllers = new Map<string, string>();
  const pods = new Map<string, Set<string>>();
  /** By controller; and the controllers by `resourceKeyOf` the pod. */
  const kept = new Map<string, KeptPod>();
  const keptFor = new Map<string, string>();
  /** How many are kept of each namespace. */
  const counts = new Map<string, number>();
  let isWaiting = false;

  function added(pod: Resource): readonly ResourceRef[] {
    const ref = refOf(pod);
    const key = resourceKeyOf(ref);
    // A pod of this name is there again, whatever made it: its removal would be untrue from now on.
    const keeper = keptFor.get(key);
    if (keeper !== undefined) released(keeper);
    const [controller] = byOtherController(pod as Pod);
    if (controllers.get(key) !== controller) forgotten(key);
    if (controller === undefined) return [];
    controllers.set(key, controller);
    const all = pods.get(controller) ?? new Set();
    pods.set(controller, all.add(key));
    const before = released(controller);
    return before === undefined ? [] : [before];
  }

  /** Drops a pod that is gone, and says of which controller it was the last one. */
  function forgotten(key: string): string | undefined {
    const controller = controllers.get(key);
    if (controller === undefined) return undefined;
    controllers.delete(key);
    const all = pods.get(controller);
    all?.delete(key);
    if (all === undefined || all.size > 0) return undefined;
    pods.delete(controller);
    return controller;
  }

  /** Whether the removal is reported later. */
  function isKept(ref: ResourceRef): boolean {
    const controller = forgotten(resourceKeyOf(ref));
    const count = counts.get(ref.namespace) ?? 0;
    // A tenant who creates pods can make up controllers.
    if (controller === undefined || count >= MOST_IN_NAMESPACE || !isReported(ref.namespace)) return false;
    counts.set(ref.namespace, count + 1);
    keptFor.set(resourceKeyOf(ref), controller);
    kept.set(controller, { ref, until: uptimeOf(clock) + KEPT_MS });
    if (!isWaiting) void wait();
    return true;
  }

  /** Until none is kept, or the agent stops. */
  async function wait(): Promise<void> {
    isWaiting = true;
    while (kept.size > 0) {
      // In the order in which they are to end: each is kept as long.
      const [{ until: next } = { until: 0 }] = kept.values();
      const isOver = await clock.sleep(Math.max(LEAST_MS, next - uptimeOf(clock)), signal).then(
        () => true,
        () => false,
      );
      if (!isOver) return;
      due();
    }
    isWaiting = false;
  }

  function released(controller: string): ResourceRef | undefined {
    const ref = kept.get(controller)?.ref;
    if (ref === undefined) return undefined;
    kept.delete(controller);
    keptFor.delete(resourceKeyOf(ref));
    const count = (counts.get(ref.namespace) ?? 1) - 1;
    if (count > 0) counts.set(ref.namespace, count);
    else counts.delete(ref.namespace);
    return ref;
  }

  /** What is no longer kept: its time is over, its namespace is gone, or not reported of. */
  function ended(): readonly ResourceRef[] {
    const now = uptimeOf(clock);
    return [...kept]
      .filter(([, { ref, until }]) => until <= now || !isReported(ref.namespace))
      .flatMap(([controller]) => released(controller) ?? []);
  }

  function isReported(namespace: string): boolean {
    return !isGone(namespace) && scope()(namespace);
  }

  return {
    filtered(delta) {
      const { put } = delta;
      const replaced = put.filter((one) => kindKeyOf(one) === POD).flatMap(added);
      const remove = delta.remove.filter((ref) => kindKeyOf(ref) !== POD || !isKept(ref));
      const all = { put, remove: [...remove, ...replaced, ...ended()] };
      return isEmpty(all) && isEmpty(delta) ? delta : all;
    },
  };
}

const POD = kindKeyOf(Pod);
// A node that is drained, an image that is pulled, a volume that moves: what takes longer is an outage.
const KEPT_MS = 15 * 60_000;
const LEAST_MS = 1_000;
const MOST_IN_NAMESPACE = 100;
