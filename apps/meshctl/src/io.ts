import { createColors } from "picocolors";

/** What a command sees of the outside world: data goes to `out`, all else to `err`. */
export interface Io {
  /** All of standard input. */
  readInput(): Promise<Uint8Array>;
  /** Writes data; resolves when the reader can take more. */
  out(text: string): Promise<void>;
  /** Writes progress, findings and hints. */
  err(text: string): void;
  /** Colours for `err`; plain where they are not wanted. */
  readonly colors: Colors;
}

export interface Colors {
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly dim: (text: string) => string;
}

/** 0: clean. 1: something was rejected. 2: usage, unreadable input, or a fault of ours. */
export type ExitCode = 0 | 1 | 2;

/** The streams of this process. Colours only on a terminal, never with NO_COLOR (no-color.org) or TERM=dumb. */
export function processIo(): Io {
  const { env, stdin, stdout, stderr } = process;
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    // The reader has seen enough, as `head` does.
    if (error.code === "EPIPE") process.exit(process.exitCode ?? 0);
    stderr.write(`error: standard output: ${error.message}\n`);
    process.exit(2);
  });
  stderr.on("error", () => {
    // Nobody is left to be told; the data and the exit code still count.
  });
  return {
    async readInput() {
      const chunks: Buffer[] = [];
      for await (const chunk of stdin) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
    out: (text) => new Promise((resolve) => (stdout.write(text) ? resolve() : stdout.once("drain", resolve))),
    err: (text) => {
      stderr.write(text);
    },
    colors: createColors(stderr.isTTY === true && env["TERM"] !== "dumb" && (env["NO_COLOR"] ?? "") === ""),
  };
}
