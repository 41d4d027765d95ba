import { setTimeout as sleep } from "node:timers/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import type { ManagementTarget } from "../cluster/managementCluster.ts";
import { ADMIN_HELP, type AdminFlags, adminPages, checkAdminFlags, withAdmin } from "./adminOptions.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";

interface AccessLogOptions extends ManagementTarget, AdminFlags {
  readonly agent?: true;
  readonly cluster?: string;
  readonly workload?: string;
  readonly from?: string;
  readonly to?: string;
  readonly status?: string;
  readonly limit: number;
  readonly follow?: true;
  readonly output: "text" | "json" | "yaml";
}

/** `meshctl logs access`: the newest requests that proxies logged. */
export function accessLogsCommand(runtime: CommandRuntime): Command {
  return withAdmin(inManagement(new Command("access")))
    .description("Print the newest requests that proxies logged to their agents, and why they failed.")
    .option("--agent", "read all agent pods in the cluster of --context, instead of asking through the management server")
    .option("--cluster <name>", "only entries of this cluster")
    .option("--workload <name>", "only entries of proxies of this workload or pod: NAME or NAMESPACE/NAME")
    .option("--from <name>", "only requests from this workload, pod or service account: NAME or NAMESPACE/NAME")
    .option("--to <name>", "only requests to this workload, pod, Service or host: NAME or NAMESPACE/NAME")
    .addOption(new Option("--status <code>", "only responses with this code, or of this class, such as 5xx").argParser(statusPattern))
    .addOption(new Option("--limit <number>", "at most so many entries").argParser(entryCount).default(50))
    .option("-f, --follow", "print new entries as they arrive, until interrupted")
    .addOption(new Option("-o, --output <format>", "text, json or yaml").choices(["text", "json", "yaml"]).default("text"))
    .addHelpText("after", HELP)
    .action((options: AccessLogOptions) => run(options, runtime));
}

async function run(options: AccessLogOptions, runtime: CommandRuntime): Promise<void> {
  checkAdminFlags(options);
  const { agent, output, follow, limit, cluster, workload, from, to, status } = options;
  const { io, finish } = runtime;
  const { accessLogText, accessLogsIn, newEntries } = await import("../plane/accessLogText.ts");
  const { dataText } = await import("../plane/dataText.ts");
  const filters = Object.entries({ cluster, workload, from, to, status }).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const query = new URLSearchParams([...filters, ["limit", String(limit)]]);
  const place = { program: agent === true ? "agent" : "server", path: `/access-logs?${query}` } as const;
  const seen = newEntries();
  for (;;) {
    const { pages, isComplete } = await adminPages(runtime, options, place);
    const { entries, problems } = accessLogsIn(pages, limit);
    for (const problem of problems) io.err(`warning: ${problem}\n`);
    if (follow !== true) {
      await io.out(output === "text" ? accessLogText(entries) : dataText({ entries }, output));
      return finish(isComplete && problems.length === 0 ? 0 : 3);
    }
    for (const entry of seen.add(entries)) await io.out(output === "text" ? accessLogText([entry]) : dataText(entry, output));
    await sleep(FOLLOW_MS);
  }
}

function statusPattern(text: string): string {
  if (!/^[1-5](\d\d|xx)$/.test(text)) throw new InvalidArgumentError(`${text} is not a code such as 503, or a class such as 5xx`);
  return text;
}

function entryCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 500)
    throw new InvalidArgumentError(`${text} is not a number of entries from 1 to 500`);
  return count;
}

// Agents answer from memory; what is lost between two answers are entries beyond the 50 of a proxy.
const FOLLOW_MS = 2_000;

const HELP = `${ADMIN_HELP}

Agents keep the newest 50 entries of each proxy that sends its access log to them, in memory. With several replicas of an agent, the management
server asks the one that leads, which asks the others; a warning names those that did not answer. An entry marked "unverified" did not come from the address of the pod that it names.

Exit codes: 0 printed, 2 usage error or no answer, 3 some clusters or replicas have not answered.

Examples:
  meshctl logs access --status 5xx
  meshctl logs access --from productpage-v1 --to bookinfo/reviews
  meshctl logs access --agent --context east -f`;
