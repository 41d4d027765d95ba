import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { UsageError } from "@isthmus/core";
import { type Campaign, type Found, type Outcome, runCampaign, type Tally } from "./campaign.ts";
import { foundInputs, takeAll } from "./foundInputs.ts";
import type { Block, Errand } from "./messages.ts";
import { CACHE } from "./repository.ts";
import { type Target, targetNamed } from "./target.ts";
import { drawnInput, work } from "./worker.ts";

function usageOf(targets: readonly Target[]): string {
  return `usage: npm run fuzz -- [--minutes N] [--seed S] [--targets A,B] [--jobs J] [--keep-going]
       npm run fuzz -- --target T --seed S --input K[-L] [--print]
       npm run fuzz -- --found
  --minutes     how long (default 1)
  --seed        inputs follow from it (default: a fresh one, which is printed)
  --targets     only these entry points: see below
  --jobs        processes at a time (default: one per processor)
  --keep-going  do not end with the first failure; of failures that are alike the first is told
  --stall       seconds without a sign of life after which a process is given up (default 10)
  --input       only this input, or those from K to L
  --print       do not take the input, write it to standard output
  --found       the inputs in tests/fuzz/found, which once failed
Targets:
${targets.map(({ name, about }) => `  ${name.padEnd(13)} ${about}`).join("\n")}`;
}

const PROGRESS_MS = 30_000;
const program = fileURLToPath(import.meta.url);

/** The fuzzer as a command, with these targets; the exit code. Throws a `UsageError`, or a TypeError of `parseArgs`, for wrong arguments. */
async function fuzz(args: readonly string[], targets: readonly Target[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string", default: "1" },
      seed: { type: "string" },
      targets: { type: "string" },
      target: { type: "string" },
      jobs: { type: "string", default: String(availableParallelism()) },
      "keep-going": { type: "boolean", default: false },
      stall: { type: "string", default: "10" },
      input: { type: "string" },
      print: { type: "boolean", default: false },
      found: { type: "boolean", default: false },
      work: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    console.log(usageOf(targets));
    return 0;
  }
  if (values.work !== undefined) {
    await work(JSON.parse(values.work) as Errand, targets);
    return 0;
  }
  const stallMs = 1000 * number("stall", values.stall);
  if (values.found) return replayed(await takeAll(foundInputs(), { program, stallMs }));
  const names = values.target?.split(",") ?? values.targets?.split(",") ?? targets.map(({ name }) => name);
  for (const name of names) targetNamed(targets, name);
  const seed = values.seed === undefined ? randomBytes(4).readUInt32LE() : number("seed", values.seed);
  const only = values.input === undefined ? undefined : blockOf(values.input);
  const [first = ""] = names;
  if (only !== undefined && names.length !== 1) throw new UsageError(`--input is a number within one --target`);
  if (values.print) {
    process.stdout.write(drawnInput(targetNamed(targets, first), seed, only?.from ?? 0));
    return 0;
  }
  const campaign: Campaign = {
    targets: names,
    seed,
    minutes: number("minutes", values.minutes),
    jobs: Math.max(1, number("jobs", values.jobs)),
    keepsGoing: values["keep-going"],
    stallMs,
    ...(only === undefined ? {} : { only }),
  };
  return judged(campaign, targets);
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new UsageError(`--${name} ${text} is not a number`);
  return value;
}

function blockOf(text: string): Block {
  const [from = "", to = from] = text.split("-");
  const [first, last] = [number("input", from), number("input", to)];
  return { from: first, count: last - first + 1 };
}

/** The last line says how it ended. */
async function judged(campaign: Campaign, targets: readonly Target[]): Promise<number> {
  const { seed, keepsGoing } = campaign;
  console.log(`seed ${seed}, ${campaign.targets.length} targets, ${campaign.minutes} min, ${campaign.jobs} jobs`);
  let told = performance.now();
  const outcome = await runCampaign(campaign, {
    program,
    found: (found) => console.log(storyOf(found, seed, targetNamed(targets, found.target))),
    progress(tallies) {
      if (performance.now() - told < PROGRESS_MS) return;
      told = performance.now();
      console.log(`${inputsOf(tallies)} inputs so far: ${[...tallies].map(([name, { inputs }]) => `${name} ${inputs}`).join(", ")}`);
    },
  });
  console.log(tableOf(outcome));
  const { found, tallies } = outcome;
  const [first] = found;
  if (first === undefined) {
    console.log(`${inputsOf(tallies)} inputs, 0 failures`);
    return 0;
  }
  for (const { target, failure, times } of keepsGoing ? found : []) {
    console.log(`${failure.type} (${times} times or more): ${replayOf(target, seed, failure.input)}`);
  }
  console.log(
    keepsGoing ? `${inputsOf(tallies)} inputs, ${found.length} failures` : `failure: ${replayOf(first.target, seed, first.failure.input)}`,
  );
  return 1;
}

function replayed(failures: readonly string[]): number {
  for (const failure of failures) console.log(failure);
  console.log(`${foundInputs().length} inputs, ${failures.length} failures`);
  return failures.length === 0 ? 0 : 1;
}

function replayOf(target: string, seed: number, input: number): string {
  return `npm run fuzz -- --target ${target} --seed ${seed} --input ${input}`;
}

/** What failed, with the input kept in a file. */
function storyOf({ target, failure }: Found, seed: number, drawn: Target): string {
  const { type, input, detail } = failure;
  const folder = join(CACHE, "fuzz");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${target}-${seed}-${input}`);
  writeFileSync(file, drawnInput(drawn, seed, input));
  return [`\n${target}: input ${input} ${type}`, detail, `input: ${file}`, `replay: ${replayOf(target, seed, input)}\n`].join("\n");
}

function inputsOf(tallies: ReadonlyMap<string, Tally>): number {
  return [...tallies.values()].reduce((sum, { inputs }) => sum + inputs, 0);
}

function tableOf({ tallies, found }: Outcome): string {
  return [...tallies]
    .map(([name, { inputs, bytes, seconds, skipped }]) => {
      if (skipped !== undefined) return `${name.padEnd(13)} skipped: ${skipped}`;
      const failures = found.filter(({ target }) => target === name).length;
      const rate = Math.round(inputs / Math.max(seconds, 0.001));
      const size = Math.round(bytes / Math.max(1, inputs));
      return `${name.padEnd(13)} ${inputs} inputs of ${size} bytes in ${seconds.toFixed(0)} s: ${rate} per second, ${failures} failures`;
    })
    .join("\n");
}

/** Runs the fuzzer with the arguments of this process, and sets its exit code. */
export async function fuzzProgram(targets: readonly Target[]): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  try {
    process.exitCode = await fuzz(process.argv.slice(2), targets);
  } catch (error) {
    // parseArgs says by a TypeError with a code what is wrong with the flags.
    if (!(error instanceof UsageError || (error instanceof TypeError && "code" in error))) throw error;
    console.error(`${error.message}\n${usageOf(targets)}`);
    process.exitCode = 2;
  }
}
