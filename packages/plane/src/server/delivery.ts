import { emptyOutputSet, type OutputSet, type Resource, type ResourceRef, resourceKeyOf, SortedMap } from "@isthmus/core";
import type { Delivery } from "@isthmus/translators";
import type { Acknowledgement, Rejection } from "../ports/clusterPort.ts";

/** Which outputs have reached their clusters. */
export interface DeliveryLog {
  /** What is known now, as a value that tells what it knows otherwise than an older one. */
  readonly state: Delivery;
  wanted(clusterName: string, wanted: OutputSet): void;
  acknowledged(clusterName: string, acknowledgement: Acknowledgement, wanted: OutputSet): void;
  /** What another replica tells of an answer; `wanted` is undefined where it is not known which set was answered. */
  told(clusterName: string, answer: Omit<Acknowledgement, "revision"> & { readonly held: number }, wanted: OutputSet | undefined): void;
  forget(clusterName: string): void;
  /** How many removals a cluster's agent holds back until somebody says that so many objects may go. */
  heldIn(clusterName: string): number;
  /** How many objects a cluster's agent has not answered for as they are wanted now. */
  waitingIn(clusterName: string): number;
  /** How many objects of a cluster are not as they ought to be, by the code of their rejection. */
  rejectedIn(clusterName: string): ReadonlyMap<string, number>;
}

interface ClusterDelivery {
  readonly wanted: OutputSet | undefined;
  /** Undefined until the first answer since this server started. */
  readonly answered: OutputSet | undefined;
  /** By `resourceKeyOf`. */
  readonly rejections: SortedMap<Rejection>;
  readonly held: number;
}

export function deliveryLog(): DeliveryLog {
  let clusters = new Map<string, ClusterDelivery>();
  let state: ClusterDeliveries | undefined;

  function of(clusterName: string): ClusterDelivery {
    return clusters.get(clusterName) ?? NOTHING;
  }

  /** The clusters, to be changed: what was given out as a state stays as it was. */
  function changing(): Map<string, ClusterDelivery> {
    if (state !== undefined) clusters = new Map(clusters);
    state = undefined;
    return clusters;
  }

  function told(...[clusterName, { rejected, held }, wanted]: Parameters<DeliveryLog["told"]>): void {
    const delivery = of(clusterName);
    changing().set(clusterName, {
      ...delivery,
      // What has not changed since the last set that is known is still as it was answered then.
      answered: wanted ?? delivery.answered,
      rejections: SortedMap.empty<Rejection>().update(rejected.map((rejection) => [resourceKeyOf(rejection.ref), rejection] as const)),
      held,
    });
  }

  return {
    get state() {
      state ??= new ClusterDeliveries(clusters);
      return state;
    },
    wanted(clusterName, wanted) {
      const delivery = of(clusterName);
      if (delivery.wanted !== wanted) changing().set(clusterName, { ...delivery, wanted });
    },
    acknowledged(clusterName, { rejected }, wanted) {
      told(clusterName, { rejected, held: rejected.filter(({ code }) => code === "Held").length }, wanted);
    },
    told,
    forget(clusterName) {
      changing().delete(clusterName);
    },
    heldIn: (clusterName) => of(clusterName).held,
    waitingIn(clusterName) {
      const { wanted, answered } = of(clusterName);
      return wanted?.changesSince(answered ?? emptyOutputSet(wanted.owner)).length ?? 0;
    },
    rejectedIn(clusterName) {
      const counts = new Map<string, number>();
      for (const { code } of of(clusterName).rejections.values()) counts.set(code, (counts.get(code) ?? 0) + 1);
      return counts;
    },
  };
}

const NOTHING: ClusterDelivery = { wanted: undefined, answered: undefined, rejections: SortedMap.empty(), held: 0 };

class ClusterDeliveries implements Delivery {
  readonly #clusters: ReadonlyMap<string, ClusterDelivery>;

  constructor(clusters: ReadonlyMap<string, ClusterDelivery>) {
    this.#clusters = clusters;
  }

  stateOf(ref: ResourceRef): ReturnType<Delivery["stateOf"]> {
    const delivery = this.#in(ref.clusterName);
    const key = resourceKeyOf(ref);
    const rejection = delivery.rejections.get(key);
    if (rejection !== undefined && rejection.code !== "Held") return { code: rejection.code, message: rejection.message };
    if (delivery.answered === undefined) return "unheard";
    const wanted = resourceAt(delivery.wanted, key);
    return wanted !== undefined && resourceAt(delivery.answered, key) === wanted ? "applied" : "pending";
  }

  changedSince(older: Delivery): Iterable<string> | undefined {
    if (!(older instanceof ClusterDeliveries)) return undefined;
    const changed = new Set<string>();
    for (const clusterName of new Set([...this.#clusters.keys(), ...older.#clusters.keys()])) {
      const [now, before] = [this.#in(clusterName), older.#in(clusterName)];
      if (now !== before) for (const key of changedKeys(now, before)) changed.add(key);
    }
    return changed;
  }

  #in(clusterName: string): ClusterDelivery {
    return this.#clusters.get(clusterName) ?? NOTHING;
  }
}

function* changedKeys(now: ClusterDelivery, before: ClusterDelivery): Iterable<string> {
  if ((now.answered === undefined) !== (before.answered === undefined)) {
    // Heard for the first time, or forgotten: that bears on all that is wanted there.
    yield* keysOf(now.wanted);
    yield* keysOf(before.wanted);
  }
  yield* keysBetween(now.wanted, before.wanted);
  yield* keysBetween(now.answered, before.answered);
  for (const { key } of now.rejections.changesSince(before.rejections)) yield key;
}

function* keysBetween(now: OutputSet | undefined, before: OutputSet | undefined): Iterable<string> {
  if (now === undefined || before === undefined) yield* keysOf(now ?? before);
  else for (const { key } of now.changesSince(before)) yield key;
}

function* keysOf(outputs: OutputSet | undefined): Iterable<string> {
  for (const [key] of outputs?.entries() ?? []) yield key;
}

function resourceAt(outputs: OutputSet | undefined, key: string): Resource | undefined {
  return outputs?.at(key)?.resource;
}
