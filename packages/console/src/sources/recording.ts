import { deltaBetween, emptySnapshot, equalJson, type Resource, type ResourceRef, type Snapshot } from "@isthmus/core";
import { type FleetMoment, type FleetSource, NOTHING_KNOWN, type ObjectInsightList } from "../events/fleet.ts";
import { shownObject } from "../events/shownObject.ts";
import type { ConsoleActivity, ConsoleCertificate, ConsoleEndedInsight, ConsoleSource, ForgottenInsights, SnapshotClock } from "../wire.ts";

/** What a recording begins with. */
export interface RecordingHead {
  readonly format: typeof RECORDING_FORMAT;
  readonly about: ConsoleSource;
}

/** What a console knew at a time, as it differs from the frame before; what is absent did not change. */
export interface RecordingFrame {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly clock: Omit<SnapshotClock, "now">;
  /** By the names of parts. */
  readonly objects?: Readonly<Record<string, RecordedChanges>>;
  readonly generated?: Readonly<Record<string, RecordedChanges>>;
  readonly insights?: RecordedInsights;
  readonly certificates?: readonly ConsoleCertificate[];
  /** Of the clusters where it changed. */
  readonly activity?: readonly ConsoleActivity[];
}

export interface RecordedChanges {
  readonly put: readonly Resource[];
  readonly remove: readonly ResourceRef[];
}

export interface RecordedInsights {
  readonly at: string | null;
  readonly unknown: readonly string[];
  readonly ended: readonly ConsoleEndedInsight[];
  readonly forgotten: readonly ForgottenInsights[];
  /** Objects whose insights changed; an empty list: there are none any more. */
  readonly changed: readonly ObjectInsightList[];
}

export const RECORDING_FORMAT = "isthmus-recording/1";

/**
 * The same source, of which all that is read is written as lines of JSON: a head, and a frame whenever something has changed, or after ten seconds. Without what browsers are
 * not shown: no Secret, nothing that is redacted.
 */
export function recordedSource(source: FleetSource, write: (line: string) => void, now: () => number): FleetSource {
  let before = NOTHING_KNOWN;
  let written = Number.NEGATIVE_INFINITY;
  write(JSON.stringify({ format: RECORDING_FORMAT, about: source.about } satisfies RecordingHead));
  return {
    about: source.about,
    clock: () => source.clock(),
    async read(signal) {
      const moment = await source.read(signal);
      const at = now();
      if (moment !== undefined && (moment !== before || at - written >= QUIET_MS)) {
        write(JSON.stringify({ at, clock: source.clock(), ...differences(before, moment) } satisfies RecordingFrame));
        before = moment;
        written = at;
      }
      return moment;
    },
  };
}

// So that clusters are as fresh in what is replayed as they were.
const QUIET_MS = 10_000;

function differences(before: FleetMoment, after: FleetMoment): Omit<RecordingFrame, "at" | "clock"> {
  const [objects, generated] = [changed(before.objects, after.objects), changed(before.generated, after.generated)];
  const activity = [...(after.activity ?? [])].flatMap(([cluster, said]) => (before.activity?.get(cluster) === said ? [] : [said]));
  return {
    ...(Object.keys(objects).length === 0 ? {} : { objects }),
    ...(Object.keys(generated).length === 0 ? {} : { generated }),
    ...(before.insights === after.insights ? {} : { insights: changedInsights(before.insights, after.insights) }),
    ...(equalJson(before.certificates, after.certificates) ? {} : { certificates: after.certificates }),
    ...(activity.length === 0 ? {} : { activity }),
  };
}

type Parts = ReadonlyMap<string, Snapshot>;

function changed(before: Parts, after: Parts): Readonly<Record<string, RecordedChanges>> {
  const parts: Record<string, RecordedChanges> = {};
  for (const part of new Set([...before.keys(), ...after.keys()])) {
    const { put, remove } = deltaBetween(before.get(part) ?? emptySnapshot(), after.get(part) ?? emptySnapshot());
    const shown = put.flatMap((resource) => shownObject(resource) ?? []);
    const gone = remove.filter(({ kind }) => kind !== "Secret");
    if (shown.length + gone.length > 0) parts[part] = { put: shown, remove: gone };
  }
  return parts;
}

function changedInsights(before: FleetMoment["insights"], after: FleetMoment["insights"]): RecordedInsights {
  const { at, unknown, ended, forgotten } = after;
  const changes = after.objects.changesSince(before.objects).flatMap(({ before: was, after: is }): readonly ObjectInsightList[] => {
    if (is !== undefined) return [is];
    return was === undefined ? [] : [{ object: was.object, insights: [] }];
  });
  return { at, unknown, ended, forgotten, changed: changes };
}
