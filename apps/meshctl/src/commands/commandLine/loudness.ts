import type { Io } from "../../io.ts";
import { plainText } from "../../output/plainText.ts";

/** How much a user wants to see beside the data, and in which form. */
export interface Loudness {
  /** Neither colours nor lines that are written over. */
  readonly plain?: boolean;
  /** Only errors, warnings and findings. */
  readonly quiet?: boolean;
  /** 1: which clusters are asked, and how the command ends. 2: each request, too. */
  readonly verbose?: Verbosity;
  /** How all of it is written. */
  readonly logFormat?: LogFormat;
}

export const VERBOSITIES = [0, 1, 2] as const;
export type Verbosity = (typeof VERBOSITIES)[number];
export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Streams that follow what a command line says of them, as soon as it is read. */
export interface AdjustableIo extends Io {
  adjust(loudness: Loudness): void;
  /** How much of that is asked for. */
  readonly verbosity: Verbosity;
  /** Writes to `err` what a command does, for those who ask for so much. One line, cleaned of what a terminal acts on. */
  detail(verbosity: Verbosity, line: string): void;
}

/** The same streams, at their full loudness until `adjust` is called. `now`: milliseconds since 1970. */
export function adjustableIo(io: Io | AdjustableIo, now: () => number = Date.now): AdjustableIo {
  if ("adjust" in io) return io;
  let loudness: Loudness = {};
  const isJson = (): boolean => loudness.logFormat === "json";
  /** Whether it was written as an object. */
  const asObject = (text: string, level?: Level): boolean => {
    if (!isJson()) return false;
    const record = recordOf(text, level, now());
    if (record !== "") io.err(record);
    return true;
  };
  return {
    ...io,
    get colors() {
      return loudness.plain === true || isJson() ? { red: unchanged, yellow: unchanged, dim: unchanged } : io.colors;
    },
    get verbosity() {
      return loudness.verbose ?? 0;
    },
    // A question is no object, and whatever reads objects does not answer.
    get ask() {
      return isJson() ? undefined : io.ask;
    },
    err: (text) => {
      if (!asObject(text)) io.err(text);
    },
    note: (text) => {
      if (loudness.quiet !== true && !asObject(text)) io.note(text);
    },
    progress: (text) => {
      if (loudness.quiet !== true && loudness.plain !== true && !isJson()) io.progress(text);
    },
    detail: (verbosity, line) => {
      if ((loudness.verbose ?? 0) < verbosity) return;
      const text = plainText(line);
      if (!asObject(text, "debug")) io.err(`${loudness.plain === true ? "debug:" : io.colors.dim("debug:")} ${text}\n`);
    },
    adjust(next) {
      loudness = next;
    },
  };
}

/** What must be known before a line is read, since a mistake in it is reported in that form, too. */
export function earlyLoudness(args: readonly string[]): Loudness {
  const at = args.indexOf("--log-format");
  return args.includes("--log-format=json") || (at >= 0 && args[at + 1] === "json") ? { logFormat: "json" } : {};
}

type Level = "debug" | "info" | "warn" | "error";

/** By the words with which a text begins. */
const LEVELS: readonly (readonly [string, Level])[] = [
  ["error: ", "error"],
  ["internal error: ", "error"],
  ["info: ", "info"],
  ["warning: ", "warn"],
  ["note: ", "info"],
];

/** One line with an object of the same keys as the logs of server and agent; "" of nothing. */
function recordOf(text: string, given: Level | undefined, now: number): string {
  const [word = "", level = "info"] = given === undefined ? (LEVELS.find(([start]) => text.startsWith(start)) ?? []) : ["", given];
  const msg = text.slice(word.length).trim();
  return msg === "" ? "" : `${JSON.stringify({ level, ts: new Date(now).toISOString(), logger: "meshctl", msg })}\n`;
}

function unchanged(text: string): string {
  return text;
}
