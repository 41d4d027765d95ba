import { emptyOutputSet, type OutputSet, type Resource, type ResourceRef, resourceKeyOf, SortedMap } from "@isthmus/core";
import { type Acknowledgement, isHeldCode, isPendingCode, type Rejection } from "@isthmus/ports";
import type { Delivery } from "@isthmus/translators";
import { type ClusterComparison, type PendingCounts, pendingCounts, pendingExamples } from "./statuses/comparison.ts";
import { type WriteRefusals, writeRefusals } from "./statuses/writesRefused.ts";

/** Which outputs have reached their clusters. */
export interface DeliveryLog {
  /** What is known now, as a value that tells what it knows otherwise than an older one. */
  readonly state: Delivery;
  setDesired(clusterName: string, wanted: OutputSet): void;
  acknowledged(clusterName: string, acknowledgement: Acknowledgement, wanted: OutputSet): void;
  /** What another replica tells of an answer; `wanted` is undefined where it is not known which set was answered. */
  onSharedAnswer(clusterName: string, answer: SharedAnswer, wanted: OutputSet | undefined): void;
  forget(clusterName: string): void;
  /** How many removals a cluster's agent holds back until somebody says that so many objects may go. */
  heldIn(clusterName: string): number;
  /** Whether some of them wait as the server they came from could not tell their causes. */
  lacksCausesIn(clusterName: string): boolean;
  /** How many objects a cluster's agent has not answered for as they are desired now. */
  waitingIn(clusterName: string): number;
  /** The mode that the agent of a cluster is in, as it answered last; undefined where it has not said. */
  modeIn(clusterName: string): string | undefined;
  /** What a cluster's agent would write if it might; the same value until it answers again. Undefined where it may. */
  comparisonIn(clusterName: string): ClusterComparison | undefined;
  /** What of a cluster's objects could not be written; undefined: nothing, as far as is known. */
  refusalsIn(clusterName: string): WriteRefusals | undefined;
  /** What of a cluster's objects is not written because the mode forbids it, in order of their keys. */
  pendingIn(clusterName: string): Iterable<Rejection>;
  /** How many objects of a cluster are not as they ought to be, by the code of their rejection. */
  rejectedIn(clusterName: string): ReadonlyMap<string, number>;
}

/** What replicas tell each other of an answer: the first of its rejections, and counts of them all. */
export interface SharedAnswer extends Omit<Acknowledgement, "revision"> {
  readonly held: number;
  readonly pending?: PendingCounts;
}

interface ClusterDelivery {
  readonly wanted: OutputSet | undefined;
  /** Undefined until the first answer since this server started. */
  readonly answered: OutputSet | undefined;
  /** By `resourceKeyOf`. */
  readonly rejections: SortedMap<Rejection>;
  readonly held: number;
  readonly lacksCauses: boolean;
  readonly mode: string | undefined;
  readonly comparison: ClusterComparison | undefined;
  readonly refusals: WriteRefusals | undefined;
}

/** Starts without answers: the objects of a cluster are `unheard` until one for a known set has come. */
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

  function told(...[clusterName, answer, wanted]: Parameters<DeliveryLog["onSharedAnswer"]>): void {
    const { rejected, held, mode } = answer;
    const delivery = of(clusterName);
    const desired = wanted ?? delivery.answered;
    const size = desired?.size ?? 0;
    // An agent also reports what it keeps although it is not desired any more.
    const asked = desired === undefined ? rejected : rejected.filter(({ ref }) => desired.at(resourceKeyOf(ref)) !== undefined);
    changing().set(clusterName, {
      ...delivery,
      // What has not changed since the last set that is known is still as it was answered then.
      answered: wanted ?? delivery.answered,
      rejections: SortedMap.empty<Rejection>().update(rejected.map((rejection) => [resourceKeyOf(rejection.ref), rejection] as const)),
      held,
      lacksCauses: rejected.some(({ code }) => code === "Unconfirmed"),
      mode,
      comparison: comparisonOf(answer, size),
      refusals: writeRefusals(asked),
    });
  }

  return {
    get state() {
      state ??= new ClusterDeliveries(clusters);
      return state;
    },
    setDesired(clusterName, wanted) {
      const delivery = of(clusterName);
      if (delivery.wanted !== wanted) changing().set(clusterName, { ...delivery, wanted });
    },
    acknowledged(clusterName, { rejected, mode }, wanted) {
      told(
        clusterName,
        { rejected, ...(mode === undefined ? {} : { mode }), held: rejected.filter(({ code }) => isHeldCode(code)).length },
        wanted,
      );
    },
    onSharedAnswer: told,
    forget(clusterName) {
      changing().delete(clusterName);
    },
    heldIn: (clusterName) => of(clusterName).held,
    lacksCausesIn: (clusterName) => of(clusterName).lacksCauses,
    waitingIn(clusterName) {
      const { wanted, answered } = of(clusterName);
      return wanted?.changesSince(answered ?? emptyOutputSet(wanted.owner)).length ?? 0;
    },
    modeIn: (clusterName) => of(clusterName).mode,
    comparisonIn: (clusterName) => of(clusterName).comparison,
    refusalsIn: (clusterName) => of(clusterName).refusals,
    *pendingIn(clusterName) {
      for (const rejection of of(clusterName).rejections.values()) if (isPendingCode(rejection.code)) yield rejection;
    },
    rejectedIn(clusterName) {
      const counts = new Map<string, number>();
      for (const { code } of of(clusterName).rejections.values()) counts.set(code, (counts.get(code) ?? 0) + 1);
      return counts;
    },
  };
}

const NOTHING: ClusterDelivery = {
  wanted: undefined,
  answered: undefined,
  rejections: SortedMap.empty(),
  held: 0,
  lacksCauses: false,
  mode: undefined,
  comparison: undefined,
  refusals: undefined,
};

/** `size`: how many objects were desired. */
function comparisonOf({ rejected, mode, held, pending }: SharedAnswer, size: number): ClusterComparison | undefined {
  const counts = pending ?? pendingCounts(rejected);
  const { WouldDelete: surplus, ...puts } = counts;
  const others = rejected.filter(({ code }) => !isPendingCode(code)).length - held;
  const isNothing = mode === undefined || (mode === "manage" && Object.values(counts).every((count) => count === 0));
  if (isNothing) return undefined;
  const unlike = Object.values(puts).reduce((sum, count) => sum + count, Math.max(0, others));
  return { mode, counts: { ...puts, WouldDelete: surplus }, same: Math.max(0, size - unlike), examples: pendingExamples(rejected) };
}

class ClusterDeliveries implements Delivery {
  readonly #clusters: ReadonlyMap<string, ClusterDelivery>;

  constructor(clusters: ReadonlyMap<string, ClusterDelivery>) {
    this.#clusters = clusters;
  }

  stateOf(ref: ResourceRef): ReturnType<Delivery["stateOf"]> {
    const delivery = this.#in(ref.clusterName);
    const key = resourceKeyOf(ref);
    const rejection = delivery.rejections.get(key);
    if (rejection !== undefined && isPendingCode(rejection.code)) return { pendingIn: delivery.mode === "observe" ? "observed" : "frozen" };
    if (rejection !== undefined && !isHeldCode(rejection.code)) return { code: rejection.code, message: rejection.message };
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
  if ((now.answered === undefined) !== (before.answered === undefined) || now.mode !== before.mode) {
    // Heard for the first time, or forgotten: that bears on all that is desired there.
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
