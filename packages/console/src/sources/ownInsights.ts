import type { Clock, Snapshot } from "@isthmus/core";
import {
  type EndedInsight,
  historyAfter,
  type InsightHistory,
  type Insights,
  insightsInSteps,
  NO_HISTORY,
  objectChanges,
  withLastKnown,
} from "@isthmus/insights";
import { runTimeSliced, SLICE_MS, type StoreReader } from "@isthmus/plane";
import type { Translation } from "@isthmus/translators";

/** What they follow from beside the translation. */
export interface OwnInsightSources {
  /** What the last leader found: what began then is still of then. */
  readonly kept: StoreReader["insights"];
  readonly management: Snapshot;
  readonly clusters: StoreReader["clusters"];
}

/** Insights of a reader, while no server keeps any: clusters become silent and certificates end without one. */
export interface OwnInsights {
  /** Those of a translation, at most a minute old. */
  after(translation: Translation, sources: OwnInsightSources, signal: AbortSignal): Promise<StoreReader["insights"]>;
  /** A server keeps them again. */
  forget(): void;
}

/** Finds them by the rules of the server. */
export function ownInsights(namespace: string, clock: Clock): OwnInsights {
  let found: Found | undefined;

  return {
    async after(translation, { kept, management, clusters }, signal) {
      const now = clock.now();
      const before = found;
      const isCurrent = before?.translation === translation && before.management === management && now - before.at < MOST_AGE_MS;
      if (before !== undefined && isCurrent) return { at: before.at, objects: before.history.current, ended: before.ended };
      const slicing = { clock, sliceMs: SLICE_MS };
      const insights = await runTimeSliced(insightsInSteps(translation, { namespace, now, management }, before?.insights), slicing, signal);
      const known = before?.history ?? (await runTimeSliced(withLastKnown(NO_HISTORY, kept.objects, kept.ended), slicing, signal));
      const changes = objectChanges(insights.byObject, before?.insights.byObject);
      const isKnown = (name: string): boolean => name === "" || clusters.has(name);
      const history = await runTimeSliced(historyAfter(known, changes, { at: now, isKnown }), slicing, signal);
      const ended = [...history.ended];
      found = { translation, management, insights, history, ended, at: now };
      return { at: now, objects: history.current, ended };
    },
    forget() {
      found = undefined;
    },
  };
}

interface Found {
  readonly translation: Translation;
  readonly management: Snapshot;
  readonly insights: Insights;
  readonly history: InsightHistory;
  readonly ended: readonly EndedInsight[];
  /** Milliseconds since 1970. */
  readonly at: number;
}

const MOST_AGE_MS = 60_000;
