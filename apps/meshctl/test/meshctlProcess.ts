import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { bundle } from "../../../tools/build.mjs";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Starts meshctl as a process of its own. */
export type StartMeshctl = (args: readonly string[], stdio?: StdioOptions) => ChildProcess;

/** What a run of meshctl printed, and its exit code; null where a signal ended it. */
export interface MeshctlRun {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Bundles meshctl once for a test file, before its tests. */
export function bundledMeshctl(): StartMeshctl {
  let folder = "";
  beforeAll(async () => {
    // Below node_modules, so that npm packages resolve from there.
    folder = mkdtempSync(join(ROOT, "node_modules/.meshctl-test-"));
    await bundle(join(ROOT, "apps/meshctl/src/main.ts"), join(folder, "main.mjs"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  // One that stalls is ended.
  return (args, stdio = "pipe") => spawn(process.execPath, [join(folder, "main.mjs"), ...args], { cwd: ROOT, stdio, timeout: 100_000 });
}

/** Gives a process its input and collects what it prints; with `closeOutput` its reader goes after the first piece. */
export function runOf(child: ChildProcess, { input = "", closeOutput = false } = {}): Promise<MeshctlRun> {
  return new Promise((resolve, reject) => {
    let [out, err] = ["", ""];
    child.stdout?.on("data", (chunk) => {
      out += chunk;
      if (closeOutput) child.stdout?.destroy();
    });
    child.stderr?.on("data", (chunk) => {
      err += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
    // It may end before it has read everything.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
  });
}
