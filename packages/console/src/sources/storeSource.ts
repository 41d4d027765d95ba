import { type Clock, deltaBetween, emptyDelta, emptySnapshot, type Kind, type Log, messageOf, refOf, type Snapshot } from "@isthmus/core";
import { NO_HISTORY } from "@isthmus/insights";
import { runTimeSliced, SLICE_MS, type Store, type StoreReader, storeReader } from "@isthmus/plane";
import { type Translation, translateInSteps } from "@isthmus/translators";
import { type FleetMoment, type FleetSource, NO_INSIGHTS } from "../events/fleet.ts";
import { insightRows } from "./insightRows.ts";
import { isSameMoment } from "./sameMoment.ts";

export interface StoreSourceOptions {
  readonly store: Store;
  /** Which kinds agents report. */
  readonly kinds: {
    readonly isReported: (kindKey: string) => boolean;
    readonly kindOf: (apiVersion: string, kind: string) => Kind | undefined;
  };
  /** Namespace of the management plane. */
  readonly namespace: string;
  /** How the source is called, such as an address. */
  readonly name: string;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The fleet as servers keep it in the store, whether or not one runs. Nothing is written. What was read once stays while the store does not answer. Meshes, Workloads and
 * Destinations are discovered here, of what agents have reported; of the management cluster's own objects the store has none.
 */
export function storeSource(options: StoreSourceOptions, signal: AbortSignal): FleetSource {
  const { clock, namespace } = options;
  const reader = storeReader(options, signal);
  const discover = discovery(namespace, clock);
  let at: number | undefined;
  let problem: string | undefined;
  let insights: FleetMoment["insights"] = { at: null, objects: NO_INSIGHTS, unknown: [] };
  let insightsOf: StoreReader["insights"]["objects"] = NO_HISTORY.current;
  let last: FleetMoment | undefined;

  function readInsights(): void {
    const { at: moment, objects } = reader.insights;
    if (moment === 0 && objects.size === 0) return;
    const text = moment === 0 ? null : new Date(moment).toISOString();
    if (objects === insightsOf && text === insights.at) return;
    insights = { at: text, objects: insightRows(insights.objects, { now: objects, before: insightsOf }), unknown: [] };
    insightsOf = objects;
  }

  async function read(until: AbortSignal): Promise<FleetMoment> {
    await reader.update(until);
    at = clock.now();
    readInsights();
    const clusters = [...reader.clusters].sort(([a], [b]) => (a < b ? -1 : 1));
    const discovered = await discover(
      clusters.map(([name, { snapshot }]) => [name, snapshot] as const),
      until,
    );
    const objects = new Map([
      ["discovered", discovered],
      ...clusters.map(([name, { snapshot }]) => [`cluster ${name}`, snapshot] as const),
    ]);
    const moment: FleetMoment = { objects, generated: reader.translated, insights, certificates: NO_CERTIFICATES };
    last = isSameMoment(last, moment) ? last : moment;
    return last;
  }

  return {
    about: { kind: "store", name: options.name, version: options.version },
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
      // The beginning of time, where it never answered.
      at: new Date(at ?? 0).toISOString(),
      clusters: [...reader.clusters].map(([name, { phase, connected, version, changedAt }]) => ({
        name,
        at: changedAt === undefined ? null : new Date(changedAt).toISOString(),
        phase,
        connected,
        ...(version === undefined ? {} : { version }),
      })),
      ...(problem === undefined ? {} : { problem }),
    }),
  };
}

const NO_CERTIFICATES: FleetMoment["certificates"] = [];

/** What is discovered in clusters; again where they changed. */
function discovery(namespace: string, clock: Clock) {
  const before = new Map<string, Snapshot>();
  let given = emptySnapshot();
  let translation: Translation | undefined;
  let result = emptySnapshot();
  return async (clusters: readonly (readonly [string, Snapshot])[], signal: AbortSignal): Promise<Snapshot> => {
    const now = new Map(clusters);
    const changes = [...new Set([...before.keys(), ...now.keys()])].map((name) => {
      const [older, newer] = [before.get(name) ?? emptySnapshot(), now.get(name) ?? emptySnapshot()];
      return older === newer ? emptyDelta : deltaBetween(older, newer);
    });
    const next = given.apply({ put: changes.flatMap(({ put }) => put), remove: changes.flatMap(({ remove }) => remove) });
    before.clear();
    for (const [name, snapshot] of now) before.set(name, snapshot);
    if (next === given && translation !== undefined) return result;
    given = next;
    const earlier = translation;
    const steps = translateInSteps(given, { namespace, stage: "discovery" }, earlier);
    const made = await runTimeSliced(steps, { clock, sliceMs: SLICE_MS }, signal);
    translation = made;
    const rows =
      earlier === undefined
        ? [...made.discovery.entries()].map(([, after]) => ({ before: undefined, after }))
        : made.discovery.changesSince(earlier.discovery);
    result = result.apply({
      put: rows.flatMap(({ after }) => (after === undefined ? [] : [after.resource])),
      remove: rows.flatMap(({ before: was, after }) => (after === undefined && was !== undefined ? [refOf(was.resource)] : [])),
    });
    return result;
  };
}
