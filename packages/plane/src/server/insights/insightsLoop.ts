import { type CooperativeTask, type Meter, type Metric, messageOf, type Table } from "@isthmus/core";
import {
  type DatedObject,
  type EndedInsight,
  historyAfter,
  type Insight,
  type InsightHistory,
  type Insights,
  insightsInSteps,
  intendedNames,
  isStatusRead,
  NO_HISTORY,
  objectChanges,
  withLastKnown,
} from "@isthmus/insights";
import { type Cluster, type Leadership, type Store, StoreError } from "@isthmus/ports";
import { whileLeading } from "../../leader/leadership.ts";
import { insightSharing } from "../../replication/insightSharing.ts";
import type { KeptInsights } from "../../replication/keptInsights.ts";
import { coalesced } from "../../runtime/coalesce.ts";
import { runTimeSliced, SLICE_MS } from "../../runtime/timeSlices.ts";
import type { ServerInputs } from "../inputs.ts";
import type { ReconcileLoop } from "../reconcileLoop.ts";
import type { ServerEventHub } from "../serverEvents.ts";
import type { ServerOptions } from "../serverOptions.ts";
import { startInsightEvents } from "./insightEvents.ts";

/** What is wrong in the fleet, as the leader has found it. */
export interface FleetInsights {
  /** Of which moment: when the last translation that it follows from was taken up. Milliseconds since 1970. */
  readonly at: number;
  /** In the order of their keys; where this replica has found them, a table that shares what did not change with those before. */
  readonly objects: Table<DatedObject> | readonly DatedObject[];
  readonly ended: Iterable<EndedInsight>;
  /** Clusters of which nothing is known, so that what is wrong there is what was found before. */
  readonly unknown: readonly string[];
  /** Gives the same insight, with what was probably meant. */
  readonly withNearMiss: (insight: Insight) => Insight;
}

/** Keeps what is wrong in the fleet up to date, on the leader, behind translation. */
export interface InsightsLoop {
  /** Of this replica while it leads, else of the store; undefined: there is nothing yet. Rejects with StoreError. */
  read(): Promise<FleetInsights | undefined>;
  /** Of the leader; none on another replica. */
  metrics(): readonly Metric[];
  readonly ended: Promise<void>;
}

export interface InsightsLoopOptions extends Pick<ServerOptions, "kinds" | "namespace" | "clock" | "sliceMs" | "log"> {
  readonly inputs: Pick<ServerInputs, "view" | "store">;
  readonly reconciled: Pick<ReconcileLoop, "translation" | "waiting">;
  readonly leadership: Leadership;
  /** Where there is none, there is one replica. */
  readonly sharedStore: Store | undefined;
  /** Names this replica among all that run or ran. */
  readonly instance: string;
  readonly meter: Meter;
  readonly events: ServerEventHub;
  /** Where Events say what begins and ends: the management cluster. Undefined: nowhere. */
  readonly eventsIn: Pick<Cluster, "create"> | undefined;
}

/**
 * Runs on the leader after `translated`, when everything that follows from a change has been handed on, at most once a second and at least once a
 * minute, in slices; and writes what it found to the store, for which nothing waits.
 */
export function startInsightsLoop(options: InsightsLoopOptions, signal: AbortSignal): InsightsLoop {
  const { inputs, kinds, namespace, reconciled, leadership, sharedStore: store, instance, meter, events, eventsIn, clock, log } = options;
  const { view, store: snapshots } = inputs;
  const sharing = store && insightSharing({ store, instance, wake: () => requestWrite(), clock, log });
  if (store !== undefined && sharing !== undefined) store.subscribe(sharing.hear, signal);
  let turn: Turn | undefined;
  // Of the turn.
  let request: () => void = () => undefined;
  let requestWrite: () => void = () => undefined;

  function unknown(): readonly string[] {
    return [...view.snapshot.of(kinds.registration)]
      .filter(({ metadata }) => metadata.namespace === namespace && isUnknown(metadata.name))
      .map(({ metadata }) => metadata.name)
      .sort();
  }

  function isUnknown(clusterName: string): boolean {
    return (snapshots.clusters.get(clusterName)?.phase ?? "unknown") === "unknown";
  }

  function start(until: AbortSignal): { readonly ended: Promise<void> } {
    const mine: Turn = { insights: undefined, history: NO_HISTORY, unknown: new Set(), isComplete: false, lastKnown: undefined, at: 0 };
    turn = mine;
    const said = eventsIn && startInsightEvents({ cluster: eventsIn, view, kinds, namespace, instance, meter, clock, log }, until);

    async function update(): Promise<void> {
      const { translation, waiting } = reconciled;
      // A fleet that is just being heard seems to lack much.
      if (translation === undefined || waiting > 0) return;
      const at = clock.now();
      const slicing = { clock, sliceMs: options.sliceMs ?? SLICE_MS };
      const sliced = <T>(steps: CooperativeTask<T>): Promise<T> => runTimeSliced(steps, slicing, until);
      const next = await sliced(insightsInSteps(translation, { namespace, now: at, management: view.snapshot }, mine.insights));
      for (const [name, error] of next.errors) {
        if (mine.insights?.errors.has(name) !== true)
          log.error({ error }, `internal error in insight ${name}; other insights are not affected`);
      }
      const changes = objectChanges(next.byObject, mine.insights?.byObject);
      const absent = new Set(unknown());
      const { lastKnown, history: before } = mine;
      const known = lastKnown === undefined ? mine.history : await sliced(withLastKnown(mine.history, lastKnown.objects, lastKnown.ended));
      mine.history = await sliced(historyAfter(known, changes, { at, isKnown: (name) => !absent.has(name) }));
      if (mine.lastKnown === lastKnown) mine.lastKnown = undefined;
      // What was there when this replica took the lead is nothing new.
      if (mine.isComplete) said?.changed(before, mine.history, newsSince(mine.unknown, absent));
      else mine.isComplete = sharing === undefined || (sharing.hasBegun && mine.lastKnown === undefined);
      mine.unknown = absent;
      mine.insights = next;
      mine.at = at;
      meter.record("gloo_mesh_insights_time_sec", (clock.now() - at) / 1_000);
      writes.request();
    }

    async function write(): Promise<void> {
      if (sharing === undefined || mine.insights === undefined || !leadership.isLeader) return;
      try {
        if (!sharing.hasBegun) {
          mine.lastKnown = await sharing.begin();
          // What earlier leaders knew is taken up before anything is written.
          if (mine.lastKnown !== undefined) return runs.request();
          // Nobody led before: what has been found until now was there, and whatever begins from here on is new.
          mine.isComplete = true;
        }
        if (mine.lastKnown !== undefined) return;
        if ((await sharing.write(mine.history, mine.at)) === "written") return;
        log.debug({ instance }, "another replica writes insights");
      } catch (error) {
        // Sharing reports a store that cannot be reached.
        if (!(error instanceof StoreError)) throw error;
        log.debug({ instance }, `cannot write insights: ${messageOf(error)}; retrying`);
      }
      await clock.sleep(RETRY_MS, until);
      writes.request();
    }

    async function ticks(): Promise<void> {
      while (!until.aborted) {
        await clock.sleep(TICK_MS, until).catch(() => undefined);
        runs.request();
      }
    }

    const writes = coalesced(write, { clock, pauseMs: 0, restMs: REST_MS }, until);
    const runs = coalesced(update, { clock, pauseMs: PAUSE_MS, restMs: REST_MS }, until);
    request = runs.request;
    requestWrite = writes.request;
    runs.request();
    return {
      ended: Promise.all([writes.ended, runs.ended, ticks(), said?.ended]).then(() => {
        if (turn === mine) turn = undefined;
        sharing?.stop();
      }),
    };
  }

  events.on("translated", () => request());
  // Translation does not read what is said there.
  events.on("managementChanged", ({ put }) => {
    if (put.some(isStatusRead)) request();
  });

  return {
    async read() {
      const withNearMiss = intendedNames(reconciled.translation?.attached ?? view.snapshot);
      if (turn?.insights !== undefined) {
        const { history, at } = turn;
        return { at, objects: history.current, ended: history.ended, unknown: unknown(), withNearMiss };
      }
      const kept = await sharing?.read();
      return kept && { ...kept, unknown: unknown(), withNearMiss };
    },
    metrics() {
      return (turn?.insights?.counts ?? []).flatMap(({ code, severity, shown, suppressed }): readonly Metric[] => {
        const labels = { code, severity };
        return [
          { name: "gloo_mesh_insights", labels, value: shown },
          { name: "gloo_mesh_insights_suppressed", labels, value: suppressed },
        ];
      });
    },
    ended: whileLeading(leadership, start, signal),
  };
}

/**
 * In which clusters what has begun is new: not in one that was unknown before, as it may have been there all the time, and in the management
 * cluster not while another one becomes known.
 */
function newsSince(before: ReadonlySet<string>, now: ReadonlySet<string>): (clusterName: string) => boolean {
  const hasArrived = [...before].some((name) => !now.has(name));
  return (clusterName) => (clusterName === "" ? !hasArrived : !before.has(clusterName));
}

/** One turn of leading. */
interface Turn {
  insights: Insights | undefined;
  history: InsightHistory;
  /** Clusters of which nothing was known in the last run. */
  unknown: ReadonlySet<string>;
  /** Whether all is in `history` that was found before this turn. */
  isComplete: boolean;
  /** What the store has of earlier leaders, until a run has taken it up. */
  lastKnown: KeptInsights | undefined;
  at: number;
}

// Behind translation, statuses, and what both set off.
const PAUSE_MS = 200;
// What somebody looks at may be a second old.
const REST_MS = 1_000;
// Certificates end, and so do suppressions, without a change.
const TICK_MS = 60_000;
const RETRY_MS = 5_000;
