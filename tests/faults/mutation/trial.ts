import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "../../../tools/build.mjs";
import { type Mutant, mutated } from "./mutant.ts";

/** What has noticed a mutant, or that nothing has. `broken`: it does not even build. */
export type Verdict = "schedules" | "unit tests" | "survived" | "broken";

export interface TrialOptions {
  readonly root: string;
  /** Where bundles go: below node_modules, so that imports resolve. */
  readonly cache: string;
  /** Schedules for each mutant, and the seed of the first. */
  readonly runs: number;
  readonly seed: number;
  readonly focus?: readonly string[];
}

/** A mutant that makes a program run for ever is noticed, too. */
const SCHEDULES_MS = 240_000;
const TESTS_MS = 600_000;

/** What a real component says of a package: the simulator's store is not the one over Redis. */
const REAL: Readonly<Record<string, readonly string[]>> = { store: ["tests/real/redis/contract"] };

/** The sources stay as they are: who bundles them, or runs the tests, is given the mutant in place of its file. */
export async function tried(mutant: Mutant, { root, cache, runs, seed, focus = [] }: TrialOptions): Promise<Verdict> {
  const path = join(root, mutant.path);
  const text = mutated(readFileSync(path, "utf8"), mutant);
  const outfile = join(cache, "mutant.mjs");
  try {
    await bundle(join(root, "tests/faults/main.ts"), outfile, [replacing(path, text)]);
  } catch {
    return "broken";
  }
  const flags = [
    "--runs",
    String(runs),
    "--seed",
    String(seed),
    "--jobs",
    "1",
    "--no-shrink",
    ...(focus.length > 0 ? ["--focus", focus.join()] : []),
  ];
  if (!(await succeeds([outfile, ...flags], { root, ms: SCHEDULES_MS }))) return "schedules";
  const [kind = "", name = ""] = mutant.path.split("/");
  const source = join(cache, "mutant.ts");
  writeFileSync(source, text);
  const env = { MUTANT_PATH: path, MUTANT_SOURCE: source };
  const tests = [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--config",
    "vitest.mutant.config.ts",
    "--bail",
    "1",
    `${kind}/${name}`,
    ...(REAL[name] ?? []),
  ];
  return (await succeeds(tests, { root, ms: TESTS_MS, env })) ? "survived" : "unit tests";
}

function replacing(path: string, text: string): import("esbuild").Plugin {
  return {
    name: "mutant",
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, (loaded) => (loaded.path === path ? { contents: text, loader: "ts" } : undefined));
    },
  };
}

interface Run {
  readonly root: string;
  readonly ms: number;
  readonly env?: Readonly<Record<string, string>>;
}

function succeeds(args: readonly string[], { root, ms, env = {} }: Run): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, stdio: "ignore" });
    const timer = setTimeout(() => child.kill("SIGKILL"), ms);
    child.on("exit", (code) => {
      clearTimeout(timer);
      resolve(code === 0);
    });
  });
}
