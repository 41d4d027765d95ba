import { createColors } from "picocolors";

/** What a command sees of the outside world: data goes to `out`, all else to `err`. */
export interface Io {
  /** All of standard input. */
  readInput(): Promise<Uint8Array>;
  /** Asks a question that is answered with yes or no; undefined where nobody can be asked. */
  readonly ask?: ((question: string) => Promise<boolean>) | undefined;
  /** Writes data; resolves when the reader can take more. */
  out(text: string): Promise<void>;
  /** Writes errors, warnings and findings, and what is asked about. */
  err(text: string): void;
  /** Writes to `err` what only accompanies the data: a closing line, a hint, a finished step. Nothing with --quiet. */
  note(text: string): void;
  /** Shows what is being done, in place of what was shown before; "" takes it away. Nothing where `err` is no terminal. */
  progress(text: string): void;
  /** Colours for `err`; plain where they are not desired. */
  readonly colors: Colors;
  /** Characters in a line of the terminal that `out` is; undefined where it is none: then nothing is cut. */
  readonly columns?: number;
}

export interface Colors {
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly dim: (text: string) => string;
}

/** Colours for text on `out`: none where that is no terminal, whatever `err` is. */
export function outColors({ colors, columns }: Pick<Io, "colors" | "columns">): Colors {
  const unchanged = (text: string): string => text;
  return columns === undefined ? { red: unchanged, yellow: unchanged, dim: unchanged } : colors;
}

/**
 * 0: clean. 1: something was rejected. 2: usage, unreadable input, or a fault of ours. 3: not all that was asked for could be read or done.
 * 124: what was waited for did not come in time. 130: the user has ended the command.
 */
export type ExitCode = 0 | 1 | 2 | 3 | 124 | 130;

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
    // Nobody is left to read it; the data and the exit code still count.
  });
  return {
    async readInput() {
      const chunks: Buffer[] = [];
      for await (const chunk of stdin) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
    ...(stdin.isTTY === true && stderr.isTTY === true ? { ask: askedOnTerminal } : {}),
    out: (text) => new Promise((resolve) => (stdout.write(text) ? resolve() : stdout.once("drain", resolve))),
    err: (text) => {
      stderr.write(text);
    },
    note: (text) => {
      stderr.write(text);
    },
    progress: progressOn(stderr),
    colors: createColors(stderr.isTTY === true && env["TERM"] !== "dumb" && (env["NO_COLOR"] ?? "") === ""),
    ...columnsOf(stdout, env),
  };
}

/** Of a terminal, as COLUMNS says or as it is; none of a pipe, where nothing is cut. */
export function columnsOf(
  out: { readonly isTTY?: boolean; readonly columns?: number },
  env: Readonly<Record<string, string | undefined>>,
): Pick<Io, "columns"> {
  const columns = givenColumns(env) ?? out.columns ?? 0;
  return out.isTTY === true && columns > 0 ? { columns } : {};
}

/** What COLUMNS says; undefined for what is no number of columns. */
export function givenColumns(env: Readonly<Record<string, string | undefined>>): number | undefined {
  const said = Number(env["COLUMNS"]);
  return Number.isInteger(said) && said > 0 ? said : undefined;
}

/** Only "y" and "yes" are a yes; the end of the input is none. */
async function askedOnTerminal(question: string): Promise<boolean> {
  const { createInterface } = await import("node:readline");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await new Promise<string>((resolve) => {
    terminal.once("close", () => resolve(""));
    terminal.question(`${question} [y/N] `, resolve);
  });
  terminal.close();
  return ["y", "yes"].includes(answer.trim().toLowerCase());
}

// Often enough to be seen to move.
const PROGRESS_MS = 100;

/** A line of a terminal that is written over. Not with TERM=dumb, which cannot. */
export function progressOn(
  terminal: { readonly isTTY?: boolean; write(text: string): unknown },
  { term = process.env["TERM"], now = () => performance.now() }: { readonly term?: string | undefined; readonly now?: () => number } = {},
): Io["progress"] {
  if (terminal.isTTY !== true || term === "dumb") return () => undefined;
  let isShown = false;
  let next = 0;
  return (text) => {
    if (text === "") {
      if (isShown) terminal.write("\r\u001b[K");
      isShown = false;
    } else if (now() >= next) {
      terminal.write(`\r\u001b[K${text}`);
      isShown = true;
      next = now() + PROGRESS_MS;
    }
  };
}
