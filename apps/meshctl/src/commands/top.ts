import { Command, InvalidArgumentError, Option } from "commander";
import type { ManagementTarget } from "../cluster/managementCluster.ts";
import { plainText } from "../output/plainText.ts";
import type { SortKey } from "../plane/trafficTable.ts";
import { ADMIN_HELP, type AdminFlags, adminPages, checkAdminFlags, withAdmin } from "./adminOptions.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";

interface TopOptions extends ManagementTarget, AdminFlags {
  readonly cluster?: string;
  readonly minutes: number;
  readonly limit: number;
  readonly sort: SortKey;
  readonly output: "table" | "json" | "yaml";
}

/** `meshctl top`: the requests between workloads, the most first. */
export function topCommand(runtime: CommandRuntime): Command {
  return withAdmin(inManagement(new Command("top")))
    .description("Show requests, errors and durations between workloads, as the proxies of the meshes count them.")
    .option("--cluster <name>", "only requests that workloads of this cluster send")
    .addOption(new Option("--minutes <number>", "means over so many minutes, at most 60").argParser(numberUpTo(60)).default(5))
    .addOption(new Option("--sort <key>", "what is most of").choices(["requests", "errors", "p99"]).default("requests"))
    .addOption(new Option("--limit <number>", "at most so many rows").argParser(numberUpTo(10_000)).default(20))
    .addOption(new Option("-o, --output <format>", "table, json or yaml").choices(["table", "json", "yaml"]).default("table"))
    .addHelpText("after", HELP)
    .action((options: TopOptions) => run(options, runtime));
}

async function run(options: TopOptions, runtime: CommandRuntime): Promise<void> {
  checkAdminFlags(options);
  const { cluster, minutes, output } = options;
  const { io, finish } = runtime;
  const { trafficIn, trafficTable } = await import("../plane/trafficTable.ts");
  const { dataText } = await import("../plane/dataText.ts");
  const query = new URLSearchParams({ ...(cluster === undefined ? {} : { cluster }), minutes: String(minutes) });
  const { pages, isComplete } = await adminPages(runtime, options, { program: "server", path: `/traffic?${query}` });
  const traffic = trafficIn(pages, options);
  for (const { cluster: of, problem } of traffic.problems) io.err(`warning: ${plainText(`${of}: ${problem}`)}\n`);
  await io.out(output === "table" ? trafficTable(traffic, io.columns) : dataText(traffic, output));
  finish(isComplete && traffic.problems.length === 0 ? 0 : 3);
}

function numberUpTo(most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!Number.isInteger(number) || number < 1 || number > most)
      throw new InvalidArgumentError(`${text} is not a number from 1 to ${most}`);
    return number;
  };
}

const HELP = `${ADMIN_HELP}

Agents read the metrics of proxies where agentServices.metrics of the Settings is ENABLED. ERRORS are responses with 5xx and requests without a response. Means are over
the time that was counted: the last half minute is not there yet.

Exit codes: 0 printed, 2 usage error or no answer, 3 nothing is known of some clusters, or some replicas have not answered.

Examples:
  meshctl top --sort errors
  meshctl top --cluster east --minutes 60 -o json`;
