import { createWriteStream, openSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type Recording, readRecording } from "@isthmus/console";
import { messageOf, onAbort, UsageError } from "@isthmus/core";
import type { Logger } from "pino";
import { startReplay } from "./console.ts";

/** A file that a recording is written into. */
export interface OpenRecording {
  readonly write: (line: string) => void;
  /** Ends it, and says how it is shown. */
  close(): Promise<string>;
}

/** Makes the file. Throws UsageError where it is there already, or cannot be made. */
export function openRecording(path: string): OpenRecording {
  const packed = createGzip();
  const file = createWriteStream(path, { fd: created(path) });
  // A full disk ends the recording, and not the demo.
  const problem = pipeline(packed, file).then(
    () => undefined,
    (error: unknown) => error,
  );
  let lines = 0;
  return {
    write(line) {
      lines++;
      if (!packed.destroyed) packed.write(`${line}\n`);
    },
    async close() {
      if (!packed.destroyed) packed.end();
      const error = await problem;
      if (error !== undefined) return `--record ${path}: ${messageOf(error)}: what was shown since then is not in it`;
      // A head alone shows nothing.
      return lines < 2
        ? `Nothing was shown yet: ${path} has no recording`
        : `What was shown is in ${path}: npm run demo -- --replay ${path}`;
    },
  };
}

function created(path: string): number {
  try {
    // No file of anybody is overwritten.
    return openSync(path, "wx");
  } catch (error) {
    throw new UsageError(`--record ${path}: ${messageOf(error)}: name a file that does not exist yet`);
  }
}

/** Serves the console of a recording until the signal is aborted. Rejects with UsageError for what is none. */
export async function replay(
  path: string,
  options: { readonly port: number; readonly log: Logger; readonly say: (line: string) => void },
  signal: AbortSignal,
): Promise<void> {
  const recording = await readRecording(path);
  const shown = await startReplay({ ...options, recording, name: path }, signal);
  options.say(
    `${summaryOf(recording)} It is shown at http://127.0.0.1:${shown.port}/ as it happened, and stands still at its end. End with Ctrl-C.`,
  );
  await new Promise<void>((resolve) => onAbort(signal, resolve));
  await shown.ended;
}

function summaryOf({ about, frames }: Recording): string {
  const [first, last] = [frames[0]?.at ?? 0, frames.at(-1)?.at ?? 0];
  return `A recording of ${about.name}, ${Math.round((last - first) / 1_000)} s from ${new Date(first).toISOString()}.`;
}
