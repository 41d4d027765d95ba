import type { Io } from "../src/io.ts";

/** Streams that remember what was written. */
export interface RecordedIo extends Io {
  readonly written: { out: string; err: string };
}

export function recordedIo(input = ""): RecordedIo {
  const written = { out: "", err: "" };
  const plain = (text: string): string => text;
  return {
    written,
    readInput: async () => Buffer.from(input),
    out: async (text) => {
      written.out += text;
    },
    err: (text) => {
      written.err += text;
    },
    note: (text) => {
      written.err += text;
    },
    progress: () => undefined,
    colors: { red: plain, yellow: plain, dim: plain },
  };
}
