import { rmSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { CACHE, REPOSITORY } from "../repository.ts";

/** Of apps/meshctl: one command line, what it sees of the world, and what it reaches. */
export type Meshctl = (args: readonly string[], io: object, outside?: object) => Promise<number>;

/** What meshctl itself wrote, without the file that looks at the command line of the process. */
export async function bundledMeshctl(): Promise<Meshctl> {
  return (await bundledApp<{ readonly meshctl: Meshctl }>("apps/meshctl/src/meshctl.ts")).meshctl;
}

/** A module of an app. An app is never imported: it is bundled as it is for its users. */
export async function bundledApp<M>(entry: string): Promise<M> {
  // Found when it runs: in a bundle it would take itself for the program that was started.
  const build = pathToFileURL(join(REPOSITORY, "tools/build.mjs")).href;
  const { bundle } = (await import(build)) as { bundle(entry: string, outfile: string): Promise<void> };
  const outfile = join(CACHE, `fuzz-${basename(entry, ".ts")}-${process.pid}.mjs`);
  await bundle(join(REPOSITORY, entry), outfile);
  const program = (await import(pathToFileURL(outfile).href)) as M;
  // What it imports late is in it.
  for (const file of [outfile, `${outfile}.map`]) rmSync(file);
  return program;
}

const plain = (text: string) => text;

/** The streams of a command line: what it reads, and where it complains. */
export function recordedStreams(input: Buffer): { readonly io: object; readonly out: string[]; readonly err: string[] } {
  const [out, err]: [string[], string[]] = [[], []];
  const io = {
    readInput: async () => input,
    out: async (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
    note: () => undefined,
    progress: () => undefined,
    colors: { red: plain, yellow: plain, dim: plain },
  };
  return { io, out, err };
}

/** Throws what a command line says of a mistake of its own, and for an exit code that it does not have. */
export function checkEnd(code: number, err: readonly string[], codes: readonly number[]): void {
  const fault = err.find((text) => text.startsWith("internal error:"));
  if (fault !== undefined) throw Object.assign(new Error("an internal error"), { stack: fault });
  if (!codes.includes(code)) throw new Error(`the exit code is ${code}`);
}
