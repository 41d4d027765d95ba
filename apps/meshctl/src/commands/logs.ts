import { Command, InvalidArgumentError, Option } from "commander";
import { answered, inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import { accessLogsCommand } from "./accessLogs.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";
import { READ_EXIT_CODES } from "./helpText.ts";

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
    .option("-f, --follow", "print new lines as they are written, until interrupted")
    .addOption(new Option("--tail <lines>", "so many lines of each pod that are already written").argParser(lineCount).default(200))
    .addHelpText("after", HELP)
    .action((options: LogsOptions) => run(options, runtime));
  // Both have -f and --context: what follows the name of the subcommand is its own.
  return logs.enablePositionalOptions().addCommand(accessLogsCommand(runtime));
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
  meshctl logs --agent --context east -f`;
