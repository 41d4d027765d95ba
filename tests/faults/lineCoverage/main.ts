import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { UsageError } from "@isthmus/core";
import { baseOf } from "../base.ts";
import { seedOfRun } from "../random.ts";
import { drawSchedule, runSchedule } from "../schedule.ts";
import { functionsByLine } from "./functions.ts";
import { type LineCounts, startMeasuring } from "./measure.ts";

const USAGE = `usage: npm run coverage:faults -- [--runs N] [--seed S] [--out FILE]
  Which lines of the loops, the relay's sessions and the stores schedules reach, each counted once for a schedule. Fails where a function has
  lines that fewer than one schedule in a hundred reaches, and tests/faults/lineCoverage/unreached.json does not say why.
  --runs  schedules (default 300)
  --seed  of the first one (default 1)
  --out   where the counts go as JSON, by file and line`;

// The script starts Node without the optimizing compiler: what that has compiled, V8 does not count.
const PLACES = /^packages\/(plane\/src|relay\/src\/session|store\/src)\/.*\.ts$/;
/** Twenty of 2,000. */
const LEAST = 0.01;

interface Unreached {
  readonly path: string;
  /** Their names; those within one have its name before theirs. "*": all of the file. */
  readonly functions: readonly string[];
  readonly reason: string;
}

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: "string", default: "300" },
      seed: { type: "string", default: "1" },
      out: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const [runs, seed] = [Number(values.runs), Number(values.seed)];
  if (!Number.isSafeInteger(runs) || !Number.isSafeInteger(seed)) throw new UsageError(USAGE);
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const root = process.cwd();
  const measured = await startMeasuring(import.meta.url, root, (path) => PLACES.test(path) && !path.endsWith(".test.ts"));
  for (const clusters of [2, 3]) await baseOf(clusters);
  await measured.forget();
  for (let run = 0; run < runs; run++) {
    const schedule = drawSchedule(seedOfRun(seed, run));
    const [violation] = await runSchedule(schedule);
    await measured.ranOnce();
    if (violation !== undefined) console.log(`violation in seed ${schedule.seed}: ${violation.rule}: ${violation.message}`);
  }
  const counts = measured.counts();
  if (values.out !== undefined) {
    const plain = [...counts].map(([path, lines]) => [path, Object.fromEntries(lines)]);
    writeFileSync(values.out, `${JSON.stringify({ runs, seed, lines: Object.fromEntries(plain) })}\n`);
  }
  return reported(counts, { root, least: Math.max(1, Math.floor(runs * LEAST)), runs });
}

function reported(
  counts: LineCounts,
  { root, least, runs }: { readonly root: string; readonly least: number; readonly runs: number },
): number {
  const listed = JSON.parse(readFileSync(join(root, "tests/faults/lineCoverage/unreached.json"), "utf8")) as readonly Unreached[];
  let [lines, reached, unexplained] = [0, 0, 0];
  for (const [path, ofPath] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const names = functionsByLine(path, readFileSync(join(root, path), "utf8"));
    const seldom = new Map<string, string[]>();
    for (const [line, count] of [...ofPath].sort(([a], [b]) => a - b)) {
      const name = names.get(line);
      // What runs when a module is loaded.
      if (name === undefined) continue;
      lines++;
      if (count >= least) reached++;
      else seldom.set(name, [...(seldom.get(name) ?? []), `${line} (${count})`]);
    }
    for (const [name, where] of seldom) {
      if (listed.some((entry) => entry.path === path && (entry.functions[0] === "*" || entry.functions.includes(name)))) continue;
      unexplained++;
      console.log(`${path} ${name}: ${where.join(", ")}`);
    }
  }
  console.log(
    `${runs} schedules: ${reached} of ${lines} lines were reached by ${least} of them or more; ${unexplained} functions with others are not listed`,
  );
  return unexplained === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError || (error instanceof TypeError && "code" in error))) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
