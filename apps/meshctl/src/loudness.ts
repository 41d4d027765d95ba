import type { Io } from "./io.ts";

/** How much a user wants to see beside the data. */
export interface Loudness {
  /** Neither colours nor lines that are written over. */
  readonly plain?: boolean;
  /** Only errors, warnings and findings. */
  readonly quiet?: boolean;
}

/** Streams that follow what a command line says of them, as soon as it is read. */
export interface AdjustableIo extends Io {
  adjust(loudness: Loudness): void;
}

/** The same streams, at their full loudness until `adjust` is called. */
export function adjustableIo(io: Io): AdjustableIo {
  let loudness: Loudness = {};
  return {
    ...io,
    get colors() {
      return loudness.plain === true ? { red: unchanged, yellow: unchanged, dim: unchanged } : io.colors;
    },
    note: (text) => {
      if (loudness.quiet !== true) io.note(text);
    },
    progress: (text) => {
      if (loudness.quiet !== true && loudness.plain !== true) io.progress(text);
    },
    adjust(next) {
      loudness = next;
    },
  };
}

function unchanged(text: string): string {
  return text;
}
