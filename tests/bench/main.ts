import { parseArgs } from "node:util";
import { UsageError } from "@isthmus/core";
import { runApart } from "./apart.ts";
import { type Benchmark, benchmarks, type Figures } from "./benchmarks.ts";
import { tableOf } from "./table.ts";

const NAMES = benchmarks.filter(({ isPart }) => isPart !== true).map(({ name }) => name);

const USAGE = `usage: npm run bench -- [--only NAME[,NAME…]] [--input FILE] [--smoke] [--part K/N] [SIZES]
  --only   run these: ${NAMES.join(", ")}
  --input  a JSON List for \`translate\`, instead of one that it makes
  --without-insights  \`churn\` and \`memory-server\`: the server does not look for insights, to see what they cost
  --smoke  small sizes, to see that every benchmark still runs; the figures mean nothing
  --part   of those that run, each N-th from the K-th
SIZES, where a benchmark has them: --clusters N, --services N (of each cluster; of all for \`translate\`), --pods N (of each service),
  --seconds N (how long to look on), --rest N (seconds before that, as a server does other things once nobody has joined for a while)`;

/**
 * Runs each benchmark in a process of its own, so that none inherits the heap or the warm code of another. JSON lines go to
 * standard output as they come, a table to standard error at the end.
 */
async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: "string" },
      input: { type: "string" },
      smoke: { type: "boolean" },
      part: { type: "string" },
      "without-insights": { type: "boolean" },
      // For processes that this one starts.
      run: { type: "string" },
      clusters: { type: "string" },
      services: { type: "string" },
      pods: { type: "string" },
      seconds: { type: "string" },
      rest: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  if (values.run !== undefined) {
    const options = {
      smoke: values.smoke === true,
      withoutInsights: values["without-insights"] === true,
      ...(values.input === undefined ? {} : { input: values.input }),
      ...numbers({ clusters: values.clusters, services: values.services, pods: values.pods, seconds: values.seconds, rest: values.rest }),
    };
    for await (const figures of benchmarkNamed(values.run).run(options)) console.log(JSON.stringify(figures));
    return 0;
  }
  // An input is for the one benchmark that reads it.
  const names = values.only?.split(",") ?? (values.input === undefined ? NAMES : ["translate"]);
  const rows: Figures[] = [];
  for (const { name, program, heapMiB } of partOf(names, values.part ?? "1/1").map(benchmarkNamed)) {
    rows.push(...(await runApart(["--run", name, ...args], { program, heapMiB, onLine: (line) => console.log(line) })));
  }
  console.error(`\n${tableOf(rows)}`);
  return 0;
}

/** Those of a part, as `2/3`. */
function partOf<T>(all: readonly T[], part: string): readonly T[] {
  const [first = 0, every = 0] = part.split("/").map(Number);
  if (!/^[1-9]\d*\/[1-9]\d*$/.test(part) || first > every) throw new UsageError(`--part ${part}: not as 1/2\n${USAGE}`);
  return all.filter((_, i) => i % every === first - 1);
}

/** The flags that were given, as numbers. */
function numbers(flags: Readonly<Record<string, string | undefined>>): Readonly<Record<string, number>> {
  const given = Object.entries(flags).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(
    given.map(([flag, text]) => {
      if (!/^[1-9]\d*$/.test(text)) throw new UsageError(`--${flag} ${text}: not a number above 0\n${USAGE}`);
      return [flag, Number(text)] as const;
    }),
  );
}

function benchmarkNamed(name: string): Benchmark {
  const benchmark = benchmarks.find((candidate) => candidate.name === name);
  if (benchmark === undefined) throw new UsageError(`no benchmark is called ${name}\n${USAGE}`);
  return benchmark;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  // parseArgs says by a TypeError with a code what is wrong with the flags.
  const isUsage = error instanceof UsageError || (error instanceof TypeError && "code" in error);
  console.error(isUsage ? error.message : error);
  process.exitCode = isUsage ? 2 : 1;
}
