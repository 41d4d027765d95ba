import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { UsageError } from "@isthmus/core";
import { type Benchmark, benchmarks, type Figures } from "./benchmarks.ts";
import { tableOf } from "./table.ts";

const USAGE = `usage: npm run bench -- [--only NAME[,NAME…]] [--input FILE] [--smoke]
  --only   run these: ${benchmarks.map(({ name }) => name).join(", ")}
  --input  a JSON List that \`translate\` reads, instead of one that it makes
  --smoke  small sizes, to see that every benchmark still runs; the figures mean nothing`;

/**
 * Runs each benchmark in a process of its own, so that none inherits the heap or the warm code of another. JSON lines go to
 * standard output as they come, a table to standard error at the end.
 */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { only: { type: "string" }, input: { type: "string" }, smoke: { type: "boolean" }, run: { type: "string" } },
  });
  const options = { smoke: values.smoke === true, ...(values.input === undefined ? {} : { input: values.input }) };
  if (values.run !== undefined) {
    for await (const figures of benchmarkNamed(values.run).run(options)) console.log(JSON.stringify(figures));
    return 0;
  }
  // An input is for the one benchmark that reads it.
  const names = values.only?.split(",") ?? (values.input === undefined ? benchmarks.map(({ name }) => name) : ["translate"]);
  const rows: Figures[] = [];
  for (const benchmark of names.map(benchmarkNamed)) rows.push(...(await runApart(benchmark, args)));
  console.error(`\n${tableOf(rows)}`);
  return 0;
}

function benchmarkNamed(name: string): Benchmark {
  const benchmark = benchmarks.find((candidate) => candidate.name === name);
  if (benchmark === undefined) throw new UsageError(`no benchmark is called ${name}\n${USAGE}`);
  return benchmark;
}

async function runApart({ name, heapMiB }: Benchmark, args: readonly string[]): Promise<readonly Figures[]> {
  const flags = heapMiB === undefined ? [] : [`--max-old-space-size=${heapMiB}`];
  const child = spawn(process.execPath, [...flags, join("tools", "run.mjs"), join("tests", "bench", "main.ts"), "--run", name, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    process.stdout.write(chunk);
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`benchmark ${name} ended with exit code ${code}`);
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Figures);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof UsageError || (error instanceof TypeError && "code" in error);
  console.error(isUsage ? error.message : error);
  process.exitCode = isUsage ? 2 : 1;
}
