import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { type Clock, emptySnapshot, messageOf, resourceKeyOf, type Snapshot, UsageError, uptimeOf } from "@isthmus/core";
import { type FleetMoment, type FleetSource, NOTHING_KNOWN } from "../events/fleet.ts";
import type { ConsoleSource } from "../wire.ts";
import { RECORDING_FORMAT, type RecordedChanges, type RecordingFrame, type RecordingHead } from "./recording.ts";

/** What a console knew over a time. */
export interface Recording {
  readonly about: ConsoleSource;
  /** At least one, in the order of their times. */
  readonly frames: readonly RecordingFrame[];
}

/** Reads a recording that was compressed by gzip. Rejects with UsageError for what is none, or is larger than 256 MiB. */
export async function readRecording(path: string): Promise<Recording> {
  let head: RecordingHead | undefined;
  const frames: RecordingFrame[] = [];
  let line = 0;
  try {
    for await (const text of linesOf(path)) {
      line++;
      const read: unknown = JSON.parse(text);
      if (head === undefined) head = headOf(read);
      else frames.push(frameOf(read, frames.at(-1)));
    }
  } catch (error) {
    // One that was not ended properly has all but its last line.
    const isCut = codeOf(error) === "Z_BUF_ERROR" && frames.length > 0;
    if (!isCut) throw new UsageError(`${path}: ${problemOf(error, line)}`);
  }
  if (head === undefined || frames.length === 0) throw new UsageError(`${path}: it is a recording of nothing: record for longer`);
  return { about: head.about, frames };
}

function problemOf(error: unknown, line: number): string {
  if (codeOf(error).startsWith("Z_")) return `it is not compressed by gzip, as recordings are: ${messageOf(error)}`;
  // Of the file system.
  const isOfSystem = typeof (error as { readonly syscall?: unknown }).syscall === "string";
  return isOfSystem ? messageOf(error) : `line ${line} is no part of a recording: ${messageOf(error)}`;
}

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown }).code);
}

async function* linesOf(path: string): AsyncGenerator<string> {
  // What was read of a line so far: put together once, as a line may be as long as the file.
  let parts: string[] = [];
  let letters = 0;
  const file = createReadStream(path);
  const unpacked = file.pipe(createGunzip());
  file.on("error", (error) => unpacked.destroy(error));
  unpacked.setEncoding("utf8");
  for await (const chunk of unpacked as AsyncIterable<string>) {
    letters += chunk.length;
    if (letters > MOST_LETTERS) throw new TypeError(`it has more than ${MOST_LETTERS / 2 ** 20} MiB`);
    const [first = "", ...others] = chunk.split("\n");
    parts.push(first);
    for (const other of others) {
      yield parts.join("");
      parts = [other];
    }
  }
  const rest = parts.join("");
  if (rest !== "") yield rest;
}

const MOST_LETTERS = 256 * 2 ** 20;

function headOf(read: unknown): RecordingHead {
  const head = read as Partial<RecordingHead> | null;
  if (head?.format !== RECORDING_FORMAT) throw new TypeError(`it does not say ${RECORDING_FORMAT}`);
  if (typeof head.about?.name !== "string") throw new TypeError("it does not say of what");
  return head as RecordingHead;
}

function frameOf(read: unknown, before: RecordingFrame | undefined): RecordingFrame {
  const frame = read as Partial<RecordingFrame> | null;
  if (typeof frame?.at !== "number" || frame.at < (before?.at ?? 0))
    throw new TypeError("it has no time, or an earlier one than the line before");
  if (!Array.isArray(frame.clock?.clusters)) throw new TypeError("it does not say how fresh it is");
  for (const parts of [frame.objects, frame.generated]) {
    for (const { put, remove } of Object.values(parts ?? {}))
      for (const one of [...put.map(({ metadata, ...rest }) => ({ ...rest, ...metadata })), ...remove]) requireName(one);
  }
  const { insights, certificates = [], activity = [] } = frame;
  const { changed = [], ended = [], unknown = [], forgotten = [] } = insights ?? {};
  if (![certificates, activity, changed, ended, unknown, forgotten].every(Array.isArray)) throw new TypeError("a list is none");
  for (const { object, insights: found } of changed) {
    requireName(object);
    if (!Array.isArray(found)) throw new TypeError("insights of an object that are no list");
  }
  if (activity.some(({ cluster }) => typeof cluster !== "string")) throw new TypeError("activity of no cluster");
  return insights === undefined
    ? (frame as RecordingFrame)
    : ({ ...frame, insights: { ...insights, changed, ended, unknown, forgotten } } as RecordingFrame);
}

function requireName(one: object): void {
  const { apiVersion, kind, name } = one as Readonly<Record<string, unknown>>;
  if ([apiVersion, kind, name].some((text) => typeof text !== "string")) throw new TypeError("an object without apiVersion, kind or name");
}

/** A recording as a source that knows at each time what was known then, and the clock of then: it stands still at the end. */
export function replayedSource(
  recording: Recording,
  { name, clock }: { readonly name: string; readonly clock: Clock },
): { readonly source: FleetSource; readonly clock: Clock } {
  const { about, frames } = recording;
  const [first, last] = [frames[0]?.at ?? 0, frames.at(-1)?.at ?? 0];
  const begun = uptimeOf(clock);
  const then = () => Math.min(last, first + uptimeOf(clock) - begun);
  let [moment, next] = [NOTHING_KNOWN, 0];
  return {
    source: {
      about: { ...about, kind: "recording", name },
      async read() {
        const time = then();
        for (let frame = frames[next]; frame !== undefined && frame.at <= time; frame = frames[++next]) moment = after(moment, frame);
        return moment;
      },
      clock: () => frames[Math.max(0, next - 1)]?.clock ?? { at: new Date(first).toISOString(), clusters: [] },
    },
    clock: { ...clock, now: then },
  };
}

function after(moment: FleetMoment, { objects, generated, insights, certificates, activity }: RecordingFrame): FleetMoment {
  return {
    ...moment,
    ...(objects === undefined ? {} : { objects: applied(moment.objects, objects) }),
    ...(generated === undefined ? {} : { generated: applied(moment.generated, generated) }),
    ...(insights === undefined
      ? {}
      : {
          insights: {
            ...insights,
            objects: moment.insights.objects.with(
              insights.changed.map((one) => [resourceKeyOf(one.object), one.insights.length === 0 ? undefined : one] as const),
            ),
          },
        }),
    ...(certificates === undefined ? {} : { certificates }),
    ...(activity === undefined
      ? {}
      : { activity: new Map([...(moment.activity ?? []), ...activity.map((one) => [one.cluster, one] as const)]) }),
  };
}

function applied(before: ReadonlyMap<string, Snapshot>, parts: Readonly<Record<string, RecordedChanges>>): ReadonlyMap<string, Snapshot> {
  const after = new Map(before);
  for (const [part, delta] of Object.entries(parts)) after.set(part, (after.get(part) ?? emptySnapshot()).apply(delta));
  return after;
}
