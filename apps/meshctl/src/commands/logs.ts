import { UsageError } from "@isthmus/core";
import { Command, InvalidArgumentError, Option } from "commander";
import { answered, inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import { accessLogsCommand } from "./accessLogs.ts";
import { READ_EXIT_CODES } from "./commandLine/helpText.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";

interface LogsOptions extends ManagementTarget {
  readonly agent?: true;
  readonly follow?: boolean;
  readonly tail: number;
}

/** `meshctl logs`: what the server writes, or an agent. */
export function logsCommand(runtime: CommandRuntime): Command {
  const logs = inManagement(new Command("logs"), { of: "the cluster" })
    .description("Print the logs of the pods of the management server, or with --agent those of an agent in its cluster.")
    .option("--agent", "the agent in the cluster of --context, instead of the management server")
    .option("--cluster <name>", "the agent of this cluster: its context is that of its name in meshctl config view, else the name itself")
    .option("-f, --follow", "print new lines as they are written, until interrupted")
    .addOption(new Option("--tail <lines>", "so many lines of each pod that are already written").argParser(lineCount).default(200))
    .addHelpText("after", HELP)
    .action((options: LogsOptions) => run(options, runtime));
  // The subcommand has a --cluster of its own, which is a filter.
  logs.hook("preAction", async (_, action) => {
    if (action === logs) await inClusterNamed(action);
  });
  // Both have -f and --context: what follows the name of the subcommand is its own.
  return logs.enablePositionalOptions().addCommand(accessLogsCommand(runtime));
}

/** Fills in the context of `--cluster`. Throws UsageError for what says otherwise. */
async function inClusterNamed(action: Command): Promise<void> {
  const { cluster }: { readonly cluster?: string } = action.opts();
  if (cluster === undefined) return;
  if (action.getOptionValueSource("context") === "cli")
    throw new UsageError("--cluster and --context are mutually exclusive: use --agent --context for a context of another name");
  const { readUserConfig, SETTINGS } = await import("../cluster/userConfig.ts");
  // A kubeconfig on the line has contexts of its own.
  const isOwn = action.getOptionValueSource("kubeconfig") === "cli";
  const { clusters, settings } = await readUserConfig();
  action.setOptionValueWithSource("context", (isOwn ? undefined : clusters.get(cluster)) ?? cluster, "cli");
  const { value, from } = settings.kubeconfig ?? {};
  if (!isOwn && value !== undefined && from !== SETTINGS.kubeconfig.variable)
    action.setOptionValueWithSource("kubeconfig", value, "config");
  action.setOptionValueWithSource("agent", true, "cli");
}

async function run(
  { agent, follow = false, tail, ...place }: LogsOptions,
  { io, connect, connectApiServer }: CommandRuntime,
): Promise<void> {
  const { logSources, printLogs } = await import("../plane/podLogs.ts");
  const { namespace } = place;
  const request = { program: agent ? "agent" : "server", namespace, follow, tailLines: tail } as const;
  const sources = await inManagementCluster(place, connect, (cluster, signal) => logSources(cluster, request, signal));
  const api = await connectApiServer(place);
  // To follow takes as long as its reader wants.
  const print = (signal: AbortSignal): Promise<void> =>
    printLogs(io, { api, sources, ...request }, follow ? new AbortController().signal : signal);
  await answered("cluster", place, print);
}

function lineCount(text: string): number {
  const lines = Number(text);
  if (!Number.isInteger(lines) || lines < 0 || lines > 1_000_000)
    throw new InvalidArgumentError(`${text} is not a number of lines from 0 to 1000000`);
  return lines;
}

const HELP = `${READ_EXIT_CODES}

Examples:
  meshctl logs --tail 50
  # Follow the agent of cluster east
  meshctl logs --cluster east -f
  # The same, where the context of the cluster has another name
  meshctl logs --agent --context kind-east -f`;
