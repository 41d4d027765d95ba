import { deltaBetween, emptySnapshot, keyOf, type Resource, type ResourceRef, refOf } from "@isthmus/core";
import type { ObjectGeneration, SnapshotClock } from "../wire.ts";
import type { FleetMoment } from "./fleet.ts";
import { origin } from "./origin.ts";
import { isSameFleet } from "./sameMoment.ts";

/** What was known at a time. */
export interface PastMoment {
  readonly moment: FleetMoment;
  readonly clock: SnapshotClock;
}

/** Earlier moments of a fleet, in memory: what did not change from one to the next is there once. */
export interface MomentHistory {
  /** `clock.now`: since when it is known. Taken where the last one is old enough; a moment that follows within that time replaces nothing. What happened in the clusters is not kept. */
  add(moment: FleetMoment, clock: SnapshotClock): void;
  /** When each began, in ISO 8601, the oldest first. */
  readonly times: readonly string[];
  /** What was known at a time in ISO 8601: the last moment that began at it or before. Undefined: nothing that old is kept. */
  at(time: string): PastMoment | undefined;
  /** Where objects changed from each of them to the next, in the order of `times`; nothing for the oldest. */
  readonly changes: readonly { readonly at: string; readonly places: readonly ChangedPlace[] }[];
  /** The generations of an object in all of them, whatever its version is called: each with the first moment that has it. Undefined: none has the object. */
  generationsOf(ref: ObjectName): { readonly last: Resource; readonly generations: readonly ObjectGeneration[] } | undefined;
}

/** Objects of one kind in one namespace of a cluster. */
export interface ChangedPlace extends Pick<ResourceRef, "apiVersion" | "kind" | "namespace" | "clusterName"> {
  /** How many of them changed. */
  readonly count: number;
}

/** An object whose API version does not matter. */
export interface ObjectName {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly clusterName: string;
}

export interface MomentHistoryOptions {
  /** Milliseconds between two moments. Default: a minute. Older than an hour, ten times as much. */
  readonly stepMs?: number;
  /** Objects that differ between moments, in all: the oldest moments go first. A large one counts as many, one for each 4 KiB of JSON. Default: 200,000. */
  readonly mostChanges?: number;
}

interface Kept extends PastMoment {
  readonly time: number;
  /** Objects that differ from the moment before, and insights. */
  readonly changes: number;
  readonly places: readonly ChangedPlace[];
}

/** Without moments. Those of the last day are kept. */
export function momentHistory({ stepMs = STEP_MS, mostChanges = MOST_CHANGES }: MomentHistoryOptions = {}): MomentHistory {
  let kept: readonly Kept[] = [];

  /** Old ones with more time between them: of each ten, the first. The one that holds at the beginning of the day stays. */
  function thinned(now: number): readonly Kept[] {
    const thin: Kept[] = [];
    for (const [i, one] of kept.entries()) {
      const next = kept[i + 1];
      if (next !== undefined && now - next.time > LONGEST_MS) continue;
      const last = thin.at(-1);
      if (last !== undefined && now - one.time > FINE_MS && one.time - last.time < stepMs * COARSE) continue;
      const isAfterSame = last === undefined ? i === 0 : last.moment === kept[i - 1]?.moment;
      thin.push(isAfterSame ? one : { ...one, ...(last === undefined ? NO_CHANGES : changesBetween(last.moment, one.moment)) });
    }
    let changes = thin.reduce((sum, one) => sum + one.changes, 0);
    while (thin.length > 1 && changes > mostChanges) {
      thin.shift();
      // What the first differed in from those that have gone is not kept twice.
      const [first] = thin;
      changes -= first?.changes ?? 0;
      if (first !== undefined) thin[0] = { ...first, ...NO_CHANGES };
    }
    return thin;
  }

  return {
    add(whole, clock) {
      const moment = withoutActivity(whole);
      const time = Date.parse(clock.now);
      const last = kept.at(-1);
      if (last !== undefined && (isSameFleet(last.moment, moment) || time - last.time < stepMs)) return;
      kept = [...kept, { moment, clock, time, ...(last === undefined ? NO_CHANGES : changesBetween(last.moment, moment)) }];
      kept = thinned(time);
    },
    get times() {
      return kept.map(({ clock }) => clock.now);
    },
    get changes() {
      return kept.map(({ clock, places }) => ({ at: clock.now, places }));
    },
    at(time) {
      const ms = Date.parse(time);
      return kept.findLast((one) => one.time <= ms);
    },
    generationsOf(name) {
      const generations: ObjectGeneration[] = [];
      let last: Resource | undefined;
      for (const { moment, clock } of kept) {
        const found = objectIn(moment, name);
        const before = generations.at(-1);
        if (found === undefined && before === undefined) continue;
        last = found ?? last;
        const next = { at: clock.now, generation: found?.metadata.generation ?? null, isAbsent: found === undefined, ...origin(found) };
        if (before?.generation !== next.generation || before.isAbsent !== next.isAbsent) generations.push(next);
      }
      return last && { last, generations };
    },
  };
}

function withoutActivity(moment: FleetMoment): FleetMoment {
  const { activity, ...fleet } = moment;
  return activity === undefined ? moment : fleet;
}

const STEP_MS = 60_000;
const COARSE = 10;
const FINE_MS = 3_600_000;
const LONGEST_MS = 24 * 3_600_000;
const MOST_CHANGES = 200_000;

/** Parts have no object in common. */
function objectIn({ objects }: FleetMoment, { group, kind, ...name }: ObjectName): Resource | undefined {
  const [kindKey, key] = [`${group}/${kind}`, keyOf(name)];
  for (const snapshot of objects.values()) {
    const found = snapshot.collections().get(kindKey)?.row(key);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Changes = Pick<Kept, "changes" | "places">;

const NO_CHANGES: Changes = { changes: 0, places: [] };

function changesBetween(before: FleetMoment, after: FleetMoment): Changes {
  const insights = after.insights.objects.changesSince(before.insights.objects);
  let sum = insights.reduce((all, change) => all + weightOf(change.after), 0);
  const places = new Map<string, ChangedPlace>();
  const count = ({ apiVersion, kind, namespace, clusterName }: ResourceRef) => {
    // Nothing of a Secret is shown, not even how often it changed.
    if (kind === "Secret") return;
    const key = [apiVersion, kind, namespace, clusterName].join(" ");
    places.set(key, { apiVersion, kind, namespace, clusterName, count: (places.get(key)?.count ?? 0) + 1 });
  };
  for (const parts of ["objects", "generated"] as const) {
    for (const name of new Set([...before[parts].keys(), ...after[parts].keys()])) {
      const { put, remove } = deltaBetween(before[parts].get(name) ?? NOTHING, after[parts].get(name) ?? NOTHING);
      sum += put.reduce((all, resource) => all + weightOf(resource), remove.length);
      for (const resource of put) count(refOf(resource));
      for (const ref of remove) count(ref);
    }
  }
  return { changes: sum, places: [...places.values()] };
}

/** Others decide how large objects are. */
function weightOf(value: unknown): number {
  return Math.ceil((JSON.stringify(value ?? null).length + 1) / USUAL_BYTES);
}

const USUAL_BYTES = 4_096;
const NOTHING = emptySnapshot();
