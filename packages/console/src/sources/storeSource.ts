import { type Clock, emptySnapshot, equalJson, type Kind, keptText, type Log, messageOf, type Resource, type Table } from "@isthmus/core";
import { type DatedObject, intendedNames, NO_HISTORY } from "@isthmus/insights";
import { type Store, type StoreReader, storeReader } from "@isthmus/plane";
import type { Translation } from "@isthmus/translators";
import { type FleetMoment, type FleetSource, NO_INSIGHTS } from "../events/fleet.ts";
import { isSameMoment } from "../events/sameMoment.ts";
import { shownActivity } from "./activity.ts";
import { endedInsights } from "./endedInsights.ts";
import { insightRows } from "./insightRows.ts";
import { ownInsights } from "./ownInsights.ts";
import { serverVersions } from "./serverVersions.ts";
import { storeTranslation } from "./storeTranslation.ts";
import { discoveredObjects } from "./translated.ts";

export interface StoreSourceOptions {
  readonly store: Store;
  /** Which kinds agents report, which are discovered, and which one registers clusters. */
  readonly kinds: {
    readonly isReported: (kindKey: string) => boolean;
    readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
    readonly discovery: readonly Kind[];
    readonly registration: Kind;
  };
  /** Namespace of the management plane. */
  readonly namespace: string;
  /** As the servers have it. Default: they have not. */
  readonly disallowIntersectingConfig?: boolean;
  /** How the source is called, such as an address. */
  readonly name: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The fleet as servers keep it in the store, whether or not one runs. Nothing is written. What was read once stays while the store does not answer. What is discovered
 * follows here from what the store has, and so do insights while no server keeps any.
 */
export function storeSource(options: StoreSourceOptions, signal: AbortSignal): FleetSource {
  const { clock, namespace } = options;
  const reader = storeReader(options, signal);
  const translate = storeTranslation({ ...options, registration: options.kinds.registration });
  const discovered = discoveredObjects(options.kinds.discovery);
  const own = ownInsights(namespace, clock);
  const shownEnded = endedInsights();
  const activityOf = shownActivity();
  let at: number | undefined;
  let problem: string | undefined;
  let insights: FleetMoment["insights"] = { at: null, objects: NO_INSIGHTS, unknown: [], ended: [], forgotten: [] };
  let insightsOf: Table<DatedObject> = NO_HISTORY.current;
  let last: FleetMoment | undefined;

  async function readInsights(translation: Translation, until: AbortSignal): Promise<void> {
    const { management, insights: kept } = reader;
    const unknown = unknownClusters(management?.of(options.kinds.registration), reader.clusters);
    // What lacks a cluster has faults that the fleet does not have.
    const isKept = clock.now() - kept.at < SILENT_MS || management === undefined || unknown.length > 0 || reader.problems.length > 0;
    const found = isKept ? kept : await own.after(translation, { kept, management, clusters: reader.clusters }, until);
    if (isKept) own.forget();
    if (found.at === 0 && found.objects.size === 0) return;
    const text = found.at === 0 ? null : new Date(found.at).toISOString();
    const withNearMiss = intendedNames(translation.attached);
    const ended = shownEnded(found.ended);
    if (ended.ended === insights.ended && found.objects === insightsOf && text === insights.at && equalJson(unknown, insights.unknown))
      return;
    insights = {
      at: text,
      objects: insightRows(insights.objects, { now: found.objects, before: insightsOf, withNearMiss }),
      unknown,
      ...ended,
    };
    insightsOf = found.objects;
  }

  async function read(until: AbortSignal): Promise<FleetMoment> {
    await reader.update(until);
    at = clock.now();
    const { management = emptySnapshot() } = reader;
    const clusters = [...reader.clusters].sort(([a], [b]) => (a < b ? -1 : 1));
    const snapshots = clusters.map(([name, { snapshot }]) => [name, snapshot] as const);
    const translation = await translate(new Map([["", management], ...snapshots]), until);
    await readInsights(translation, until);
    const objects = new Map([
      ["management", management],
      ["discovered", discovered(translation.attached, emptySnapshot())],
      ...snapshots.map(([name, snapshot]) => [`cluster ${name}`, snapshot] as const),
    ]);
    const moment: FleetMoment = {
      objects,
      generated: reader.translated,
      insights,
      certificates: NO_CERTIFICATES,
      activity: activityOf(reader.activity),
    };
    last = isSameMoment(last, moment) ? last : moment;
    return last;
  }

  return {
    about: { kind: "store", name: options.name, version: options.version, namespace },
    async read(until) {
      try {
        const moment = await read(until);
        const [first, ...others] = reader.problems;
        problem = first === undefined ? undefined : `${first}${others.length === 0 ? "" : `, and ${others.length} more`}`;
        return moment;
      } catch (error) {
        problem = messageOf(error);
        throw error;
      }
    },
    clock: () => ({
      ...serverVersions(reader.servers),
      // The beginning of time, where it never answered.
      at: new Date(at ?? 0).toISOString(),
      clusters: [...reader.clusters].map(([name, { phase, connected, version, servedBy, changedAt }]) => ({
        name,
        at: changedAt === undefined ? null : new Date(changedAt).toISOString(),
        phase,
        connected,
        ...(version === undefined ? {} : { version }),
        ...(connected && servedBy !== undefined ? { replica: keptText(servedBy, LONGEST_REPLICA) } : {}),
      })),
      ...(problem === undefined ? {} : { problem }),
    }),
  };
}

// Longer than any instance of ours.
const LONGEST_REPLICA = 100;
const NO_CERTIFICATES: FleetMoment["certificates"] = [];
// The leader says what it has found once a minute, whether or not something has changed.
const SILENT_MS = 150_000;

/** Registered clusters of which the store has nothing. */
function unknownClusters(registrations: Iterable<Resource> | undefined, clusters: StoreReader["clusters"]): readonly string[] {
  const registered = [...(registrations ?? [])].map(({ metadata }) => metadata.name);
  return registered.filter((name) => !clusters.has(name)).sort();
}
