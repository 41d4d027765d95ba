import { spawn } from "node:child_process";
import { UsageError } from "@isthmus/core";

/** Runs the Helm of the user's machine. Throws UsageError where there is none. */
export type RunHelm = (args: readonly string[]) => Promise<HelmAnswer>;

export interface HelmAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** As `helm` in the PATH; what the user types or pipes goes to it, for `--values -`. */
export const runHelm: RunHelm = (args) =>
  new Promise((resolve, reject) => {
    const child = spawn("helm", args, { stdio: ["inherit", "pipe", "pipe"] });
    // Not by the option `timeout`, whose timer holds the process where there is no such program.
    const patience = setTimeout(() => child.kill(), PATIENCE_MS).unref();
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let size = 0;
    const keep = (into: Buffer[]) => (chunk: Buffer) => {
      size += chunk.length;
      if (size > MOST_BYTES) child.kill();
      else into.push(chunk);
    };
    child.stdout.on("data", keep(out));
    child.stderr.on("data", keep(err));
    child.on("error", (error: NodeJS.ErrnoException) =>
      reject(
        new UsageError(
          error.code === "ENOENT"
            ? "--values and --set need Helm 3 or later (helm) in the PATH, which renders the chart: install it, or leave them out"
            : `helm cannot be run: ${error.message}`,
        ),
      ),
    );
    child.on("close", (code) => {
      clearTimeout(patience);
      resolve({ code: code ?? 1, stdout: String(Buffer.concat(out)), stderr: String(Buffer.concat(err)) });
    });
  });

const PATIENCE_MS = 60_000;
const MOST_BYTES = 16 * 1024 * 1024;
