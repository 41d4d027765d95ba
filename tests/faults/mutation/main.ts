import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf, UsageError } from "@isthmus/core";
import { readSourceTree } from "../../../tools/sourceTree.ts";
import { seededRandom } from "../random.ts";
import { mutantsIn, type NamedMutant } from "./allMutants.ts";
import { KNOWN, knownMutant } from "./known.ts";
import type { Mutant } from "./mutant.ts";
import { measured, tried, type Verdict } from "./trial.ts";

const USAGE = `usage: npm run mutate -- [--sample N | --from N --count M] [--seed S] [--runs R] [--files TEXT] [--no-known] [--list]
  --sample    mutants that are drawn from all that are generated (default 40)
  --from      instead of a sample, all from the Nth on, in the order of paths and lines: a walk that can go on another day
  --count     of those, so many (default 40)
  --seed      decides which (default 1), and the schedules
  --runs      schedules for each (default 60)
  --files     only mutants of files whose path has this text
  --no-known  without those that nothing noticed once (tests/faults/mutation/known.ts)
  --list      says how many there are of each file, and runs nothing`;

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sample: { type: "string", default: "40" },
      from: { type: "string" },
      count: { type: "string", default: "40" },
      seed: { type: "string", default: "1" },
      runs: { type: "string", default: "60" },
      files: { type: "string", default: "" },
      "no-known": { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const root = process.cwd();
  const all = mutantsIn(readSourceTree(root)).filter(({ mutant }) => mutant.path.includes(values.files));
  if (values.list) return listed(all);
  const cache = join(root, `node_modules/.cache/isthmus/mutation-${process.pid}`);
  mkdirSync(cache, { recursive: true });
  const [seed, runs] = [number("seed", values.seed), number("runs", values.runs)];
  let failures = 0;
  const known = (values["no-known"] ? [] : KNOWN).map((entry) => ({ ...entry, mutant: knownMutant(root, entry) }));
  const from = values.from === undefined ? undefined : number("from", values.from);
  const count = number("count", values.count);
  const chosen = from === undefined ? drawn(all, number("sample", values.sample), seed) : all.slice(from, from + count);
  const options = { root, cache, runs, seed };
  const baseline = await measured([...known.map(({ mutant }) => mutant), ...chosen.map(({ mutant }) => mutant)], options);
  for (const { mutant, name, focus } of known) {
    const verdict = await tried(mutant, { ...options, runs: KNOWN_RUNS, focus }, baseline);
    report(verdict, mutant, name);
    if (verdict === "survived" || verdict === "broken") failures++;
  }
  const reasons = survivors(root);
  const counts = new Map<Verdict, number>();
  for (const { mutant, name } of chosen) {
    const verdict = await tried(mutant, options, baseline);
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    const reason = reasons.get(name);
    report(verdict, mutant, verdict === "survived" && reason !== undefined ? `${name} (listed: ${reason})` : name);
    if (verdict === "survived" && reason === undefined) failures++;
  }
  const figures = [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(", ");
  const which = from === undefined ? "those drawn" : `${chosen.length} from ${from} on`;
  console.log(`${all.length} mutants exist; of ${which}: ${figures || "none"}; ${failures} that nothing noticed and no list explains`);
  return failures === 0 ? 0 : 1;
}

/** Schedules that dwell on what the mutant breaks. */
const KNOWN_RUNS = 150;

function listed(all: readonly NamedMutant[]): number {
  const counts = new Map<string, number>();
  for (const { path } of all.map(({ mutant }) => mutant)) counts.set(path, (counts.get(path) ?? 0) + 1);
  for (const [path, count] of counts) console.log(`${String(count).padStart(5)} ${path}`);
  console.log(`${all.length} mutants`);
  return 0;
}

function report(verdict: Verdict, { path, line }: Mutant, what: string): void {
  console.log(`${verdict.padEnd(10)} ${path}:${line} ${what}`);
}

/** Each mutant that is known to survive, with the reason. */
function survivors(root: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(root, "tests/faults/mutation/survivors.json"), "utf8");
  const entries = JSON.parse(text) as readonly { readonly mutant: string; readonly reason: string }[];
  return new Map(entries.map(({ mutant, reason }) => [mutant, reason]));
}

function drawn(all: readonly NamedMutant[], count: number, seed: number): readonly NamedMutant[] {
  const random = seededRandom(seed);
  const left = [...all];
  return Array.from({ length: Math.min(count, left.length) }, () => left.splice(random.int(left.length), 1)).flat();
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new UsageError(`--${name} ${text} is not a number\n${USAGE}`);
  return value;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError || (error instanceof TypeError && "code" in error))) throw error;
  console.error(messageOf(error));
  process.exitCode = 2;
}
