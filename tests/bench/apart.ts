import { spawn } from "node:child_process";
import { join } from "node:path";
import { UsageError } from "@isthmus/core";
import type { Figures } from "./benchmarks.ts";

/** What the programs start with, as in `bin` of `apps/mgmt-server` and `apps/agent`. */
export const PROGRAM_FLAGS = {
  server: ["--heap-growing-percent=50"],
  agent: ["--semi-space-growth-factor=1", "--heap-growing-percent=50"],
} as const;

export interface ApartOptions {
  /** Which program is measured in that process. Default: none. */
  readonly program?: keyof typeof PROGRAM_FLAGS | undefined;
  /** Limit of the JavaScript heap, where Node's own is too low. */
  readonly heapMiB?: number | undefined;
  /** Sees each line of standard output as it comes. */
  readonly onLine?: (line: string) => void;
}

/** Runs `tests/bench/main.ts` with `args` in a process of its own; its results. Throws when it ends with another code than 0. */
export async function runApart(args: readonly string[], { program, heapMiB, onLine }: ApartOptions = {}): Promise<readonly Figures[]> {
  // As the README says for large servers.
  const heap = heapMiB === undefined ? [] : [`--max-old-space-size=${heapMiB}`, "--max-semi-space-size=32"];
  const flags = [...heap, ...(program === undefined ? [] : PROGRAM_FLAGS[program])];
  const child = spawn(process.execPath, [...flags, join("tools", "run.mjs"), join("tests", "bench", "main.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const figures: Figures[] = [];
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      onLine?.(line);
      if (line.startsWith("{")) figures.push(JSON.parse(line) as Figures);
    }
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  // It has said itself what is wrong with its flags.
  if (code === 2) throw new UsageError(`${args.join(" ")} cannot be run`);
  if (code !== 0) throw new Error(`${args.join(" ")} ended with exit code ${code}`);
  return figures;
}
