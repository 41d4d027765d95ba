import { Command, Option } from "commander";
import { inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import { PRINTED_KINDS, type PrintedKind } from "../plane/kinds.ts";
import type { Format } from "../plane/printObjects.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";
import { examples, READ_EXIT_CODES } from "./helpText.ts";

/** `meshctl get KIND`: what the management plane knows, as tables or objects. */
export function getCommand(runtime: CommandRuntime): Command {
  const group = new Command("get").description("Print what was discovered, and the policies and their state.").addHelpText("after", HELP);
  for (const printed of PRINTED_KINDS) group.addCommand(getKindCommand(new Command(printed.name), printed, runtime, kindHelp(printed)));
  return group;
}

/** One of its commands; `cluster list` is another. */
export function getKindCommand(command: Command, printed: PrintedKind, runtime: CommandRuntime, help: string): Command {
  command.description(`Print ${printed.description}.`).addHelpText("after", help);
  for (const alias of command.name() === printed.name ? printed.aliases : []) command.alias(alias);
  command
    .argument("[names...]", "only these: name, or namespace/name")
    .option("-n, --namespace <name>", "only objects of this namespace; default: all namespaces")
    .addOption(outputOption());
  if (printed.kinds.some((kind) => DISCOVERED.includes(kind))) command.option("--cluster <name>", "only objects of this cluster");
  return inManagement(command, { namespaceOption: false }).action(async (names: readonly string[], options: GetOptions) => {
    const { printKinds } = await import("../plane/printKinds.ts");
    const { namespace, cluster, output, ...place } = options;
    const selection = { ...(namespace === undefined ? {} : { namespace }), ...(cluster === undefined ? {} : { cluster }) };
    await inManagementCluster({ namespace: "", ...place }, runtime.connect, (management, signal) =>
      printKinds({ ...runtime, cluster: management, kinds: printed.kinds, selection, names, format: output }, signal),
    );
  });
}

function kindHelp({ name, kinds }: PrintedKind): string {
  const some = kinds.some((kind) => DISCOVERED.includes(kind)) ? "--cluster east" : "-o wide";
  const names = `meshctl get ${name} -o json | jq -r '.items[].metadata.name'`;
  return READ_EXIT_CODES + examples(`meshctl get ${name} ${some}`, names);
}

const DISCOVERED: readonly string[] = ["Mesh", "Workload", "Destination"];

interface GetOptions extends Omit<ManagementTarget, "namespace"> {
  readonly namespace?: string;
  readonly cluster?: string;
  readonly output: Format;
}

/** `-o`, with the formats of `kubectl get`. */
function outputOption(): Option {
  return new Option("-o, --output <format>", "table, wide (more columns), yaml, json or name")
    .choices(["table", "wide", "yaml", "json", "name"] satisfies Format[])
    .default("table");
}

const HELP = `
Data is printed to standard output, notes to standard error. On a terminal long cells are cut; in a pipe they are not.

Examples:
  # What was discovered in cluster east
  meshctl get destinations --cluster east

  # Every policy with its state; -o wide adds the first error
  meshctl get policies -o wide

  # One object with its whole status
  meshctl get trafficpolicy bookinfo/slow -o yaml`;
