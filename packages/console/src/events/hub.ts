import { type Clock, type Log, messageOf, onAbort } from "@isthmus/core";
import type { ConsoleSource, SnapshotClock } from "../wire.ts";
import { consoleEvent, eventsBetween } from "./changes.ts";
import { eventLog } from "./eventLog.ts";
import { type FleetMoment, type FleetSource, NOTHING_KNOWN } from "./fleet.ts";
import { type MomentHistory, momentHistory } from "./history.ts";
import { type Segment, segmentOf } from "./segment.ts";
import { type SessionRecord, sessionRecord } from "./sessions.ts";

/** Turns what a source knows into events, once for all browsers. */
export interface ConsoleHub {
  readonly about: ConsoleSource;
  /** Whether there is anything that browsers can be shown; what was known once stays. */
  readonly isReady: boolean;
  /** What browsers are shown now; undefined before anything is known. */
  readonly moment: FleetMoment | undefined;
  /** What they were shown before. */
  readonly history: MomentHistory;
  /** What became of agents; nothing where no history is kept. */
  readonly record: Pick<SessionRecord, "sessions">;
  /** How fresh it is what browsers see. */
  clock(): SnapshotClock;
  /**
   * The events for one browser, as it takes them: nothing is kept for it. Ends when it lags behind what is kept for all, after which it gets
   * everything from the beginning when it comes back; rejects when aborted. `lastEventId`: what it has seen last.
   */
  follow(lastEventId: string | undefined, signal: AbortSignal): AsyncIterable<Segment>;
  readonly ended: Promise<void>;
}

export interface ConsoleHubOptions {
  readonly source: FleetSource;
  /** Tells this hub from all others: the first part of the ids of its events. */
  readonly epoch: string;
  readonly clock: Clock;
  readonly log: Log;
  /** How often the source is read, in milliseconds. Default: three times a second. */
  readonly readMs?: number;
  /** How often browsers hear the time, in milliseconds. Default: every three seconds. */
  readonly clockMs?: number;
  readonly mostEvents?: number;
  readonly mostBytes?: number;
  /** Milliseconds between two moments that are kept for the history. Default: none are kept. */
  readonly historyMs?: number;
}

/** All that was known at one moment, as events; made while the first browser takes it, and kept for the next. */
interface Beginning {
  /** The number of the last event that led to this moment. */
  readonly position: number;
  readonly segments: Segment[];
  bytes: number;
  isWhole: boolean;
}

/** Reads the source until the signal is aborted. */
export function startConsoleHub(options: ConsoleHubOptions, signal: AbortSignal): ConsoleHub {
  const { source, epoch, clock, log, readMs = READ_MS, clockMs = CLOCK_MS } = options;
  const events = eventLog({ mostEvents: options.mostEvents ?? MOST_EVENTS, mostBytes: options.mostBytes ?? MOST_BYTES });
  const history = momentHistory({ stepMs: options.historyMs ?? Number.POSITIVE_INFINITY });
  const record = sessionRecord();
  const waiting = new Set<() => void>();
  /** What the events up to `position` say; undefined before anything is known. */
  let settled: { readonly moment: FleetMoment; readonly position: number } | undefined;
  let beginning: Beginning | undefined;
  let time: { readonly segment: Segment; readonly number: number } | undefined;
  let problem: string | undefined;

  function wake(): void {
    const all = [...waiting];
    waiting.clear();
    for (const one of all) one();
  }

  function woken(until: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      until.throwIfAborted();
      const forget = onAbort(until, () => {
        waiting.delete(done);
        reject(until.reason);
      });
      const done = () => {
        forget();
        resolve();
      };
      waiting.add(done);
    });
  }

  const idOf = (position: number) => `${epoch}-${position}`;

  async function update(moment: FleetMoment): Promise<void> {
    if (settled?.moment === moment) return;
    if (settled !== undefined && settled.moment.revision !== moment.revision) {
      // What was sent may not be sent again: all begin again.
      events.clear();
      beginning = undefined;
      settled = { moment, position: events.last };
      wake();
      return;
    }
    // Nobody can have seen anything before the first moment: all of that is in the beginning.
    for (const event of settled === undefined ? [] : eventsBetween(settled.moment, moment)) {
      events.append(await segmentOf(event, idOf(events.last + 1)));
      wake();
      await clock.sleep(0, signal);
    }
    settled = { moment, position: events.last };
    if (beginning !== undefined && !isRecent(beginning)) beginning = undefined;
    wake();
  }

  async function read(): Promise<void> {
    try {
      const moment = await source.read(signal);
      const isFirst = settled === undefined && moment !== undefined;
      const hasRecovered = problem !== undefined;
      problem = undefined;
      if (moment !== undefined) {
        await update(moment);
        if (options.historyMs !== undefined) {
          const clock = now();
          history.add(moment, clock);
          record.observe(clock);
        }
      }
      // What was said before is of another time.
      if (isFirst || hasRecovered) await tick();
      // So that the first browser need not wait for it.
      if (isFirst && settled !== undefined) beginningNow(settled);
    } catch (error) {
      signal.throwIfAborted();
      const text = messageOf(error);
      if (text === problem) return;
      log.warn({}, `the console cannot read ${source.about.name}: ${text}; it shows what was known before`);
      problem = text;
      await tick();
    }
  }

  function now(): SnapshotClock {
    const told = source.clock();
    return { now: new Date(clock.now()).toISOString(), ...(problem === undefined ? {} : { problem }), ...told };
  }

  async function every(ms: number, work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      try {
        await work();
        await clock.sleep(ms, signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  async function tick(): Promise<void> {
    time = { segment: await segmentOf(consoleEvent("clock", now())), number: (time?.number ?? 0) + 1 };
    wake();
  }

  /** Whether those who begin there have not much more to take then. */
  function isRecent({ position, bytes, isWhole }: Beginning): boolean {
    return events.holds(position) && (!isWhole || events.bytesAfter(position) <= Math.max(LEAST_BYTES, bytes / 2));
  }

  async function fill(made: Beginning, moment: FleetMoment): Promise<void> {
    for (const event of eventsBetween(NOTHING_KNOWN, moment)) {
      const segment = await segmentOf(event);
      made.segments.push(segment);
      made.bytes += segment.length;
      wake();
      await clock.sleep(0, signal);
    }
    made.isWhole = true;
    wake();
  }

  function beginningNow({ moment, position }: { readonly moment: FleetMoment; readonly position: number }): Beginning {
    if (beginning !== undefined && isRecent(beginning)) return beginning;
    const made: Beginning = { position, segments: [], bytes: 0, isWhole: false };
    beginning = made;
    // Aborted with everything else.
    fill(made, moment).catch(() => undefined);
    return made;
  }

  /** The number in an id of ours, if everything since is here. */
  function positionOf(lastEventId: string | undefined): number | undefined {
    const [, of, digits] = /^([\w]{1,64})-(\d{1,15})$/.exec(lastEventId ?? "") ?? [];
    const position = Number(digits);
    return of === epoch && settled !== undefined && events.holds(position) ? position : undefined;
  }

  async function* follow(lastEventId: string | undefined, gone: AbortSignal): AsyncGenerator<Segment> {
    const until = AbortSignal.any([signal, gone]);
    let heard = 0;
    let position = positionOf(lastEventId);
    if (position === undefined) {
      yield await segmentOf(consoleEvent("reset", source.about), "");
      while (settled === undefined) {
        if (time !== undefined && time.number > heard) {
          heard = time.number;
          yield time.segment;
        } else await woken(until);
      }
      const begun = beginningNow(settled);
      for (let i = 0; i < begun.segments.length || !begun.isWhole; ) {
        // All begin again, or this one is too slow.
        if (!events.holds(begun.position)) return;
        const segment = begun.segments[i];
        if (segment === undefined) await woken(until);
        else {
          i++;
          yield segment;
        }
      }
      position = begun.position;
    }
    // What changed since the beginning was made, or since the browser was cut off, is known too.
    const last = events.last;
    for (; position < last && events.holds(position); position++) yield events.after(position) as Segment;
    if (!events.holds(position)) return;
    yield await segmentOf(consoleEvent("ready", {}), idOf(position));
    while (events.holds(position)) {
      const segment = events.after(position);
      if (segment !== undefined) {
        position++;
        yield segment;
      } else if (time !== undefined && time.number > heard) {
        heard = time.number;
        yield time.segment;
      } else await woken(until);
    }
  }

  return {
    about: source.about,
    get isReady() {
      return settled !== undefined;
    },
    history,
    record,
    get moment() {
      return settled?.moment;
    },
    clock: now,
    follow,
    ended: Promise.all([every(readMs, read), every(clockMs, tick)]).then(() => undefined),
  };
}

const READ_MS = 330;
const CLOCK_MS = 3_000;
// Compressed. Of a large fleet, minutes of what changes.
const MOST_EVENTS = 5_000;
const MOST_BYTES = 16 * 1024 * 1024;
const LEAST_BYTES = 256 * 1024;
