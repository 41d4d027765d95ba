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

/** What the sources take as they are. */
export interface Baseline {
  readonly schedulesMs: number;
}

/** A mutant that makes a program run for ever is noticed, too: longer than this, and than several times what the sources take as they are. */
const SCHEDULES_MS = 240_000;
const TESTS_MS = 1_200_000;
const TIMES_LONGER = 8;

/** What a real component says of a package: the simulator's store is not the one over Redis. */
const REAL: Readonly<Record<string, readonly string[]>> = { store: ["tests/real/redis/contract", "tests/real/redis/forgery"] };
/** Few schedules have certificates of meshes, and none has every message: a long test has. */
const TRUST = /\/(?:agent|server)\/trust\/\w+\.ts$/;
const TRUST_TEST = "packages/plane/test/meshTrust.long.test.ts";

/** The sources as they are must pass what mutants are to fail: else every mutant would seem to be noticed. Throws where they do not. */
export async function measured(mutants: readonly Mutant[], options: TrialOptions): Promise<Baseline> {
  const began = performance.now();
  await bundle(join(options.root, "tests/faults/main.ts"), bundleIn(options), []);
  if (!(await schedulesPass(options, Number.POSITIVE_INFINITY))) throw new Error("schedules fail with the sources as they are");
  const schedulesMs = performance.now() - began;
  for (const tests of new Set(mutants.map(({ path }) => testsOf(path).join(" ")))) {
    if (!(await testsPass(tests.split(" "), options))) throw new Error(`these tests fail with the sources as they are: ${tests}`);
  }
  return { schedulesMs };
}

/** The sources stay as they are: who bundles them, or runs the tests, is given the mutant in place of its file. */
export async function tried(mutant: Mutant, options: TrialOptions, { schedulesMs }: Baseline): Promise<Verdict> {
  const { root, cache } = options;
  const path = join(root, mutant.path);
  const text = mutated(readFileSync(path, "utf8"), mutant);
  try {
    await bundle(join(root, "tests/faults/main.ts"), bundleIn(options), [replacing(path, text)]);
  } catch {
    return "broken";
  }
  if (!(await schedulesPass(options, Math.max(SCHEDULES_MS, TIMES_LONGER * schedulesMs)))) return "schedules";
  const source = join(cache, "mutant.ts");
  writeFileSync(source, text);
  return (await testsPass(testsOf(mutant.path), options, { MUTANT_PATH: path, MUTANT_SOURCE: source })) ? "survived" : "unit tests";
}

function bundleIn({ cache }: TrialOptions): string {
  return join(cache, "mutant.mjs");
}

function schedulesPass(options: TrialOptions, ms: number): Promise<boolean> {
  const { root, runs, seed, focus = [] } = options;
  const flags = ["--runs", String(runs), "--seed", String(seed), "--jobs", "1", "--no-shrink"];
  return succeeds([bundleIn(options), ...flags, ...(focus.length > 0 ? ["--focus", focus.join()] : [])], { root, ms });
}

/** What of `vitest.mutant.config.ts` is to notice a mutant of a source. */
function testsOf(path: string): readonly string[] {
  const [kind = "", name = ""] = path.split("/");
  return [`${kind}/${name}/`, ...(REAL[name] ?? []), ...(TRUST.test(path) ? [TRUST_TEST] : [])];
}

function testsPass(tests: readonly string[], { root }: TrialOptions, env: Readonly<Record<string, string>> = {}): Promise<boolean> {
  const args = ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.mutant.config.ts", "--bail", "1", ...tests];
  const long = tests.includes(TRUST_TEST) ? { MUTANT_LONG: TRUST_TEST } : {};
  return succeeds(args, { root, ms: TESTS_MS, env: { ...env, ...long } });
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
    const timer = Number.isFinite(ms) ? setTimeout(() => child.kill("SIGKILL"), ms) : undefined;
    child.on("exit", (code) => {
      clearTimeout(timer);
      resolve(code === 0);
    });
  });
}
