import { Command } from "commander";
import { inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import { PRINTED_KINDS, type PrintedKind } from "../plane/kinds.ts";
import type { Format } from "../plane/printObjects.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";
import { examples, READ_EXIT_CODES } from "./helpText.ts";
import { objectFormatOption } from "./objectFormat.ts";

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
    .addOption(objectFormatOption());
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

const HELP = `
Data is printed to standard output, notes to standard error. On a terminal long cells are cut; in a pipe they are not.

A template of -o jsonpath= is one of kubectl, over the List that -o json prints, also of one name: fields, [0], [1:3], [*], ['key'], ..,
[?(@.a=="b")], {range PATH}…{end} and quoted text. What an object does not have is left out. Values are printed with their line breaks: where a
script must tell them apart, take -o json.

Examples:
  # What was discovered in cluster east
  meshctl get destinations --cluster east

  # Every policy with its state; -o wide adds the first error
  meshctl get policies -o wide

  # One object with its whole status
  meshctl get trafficpolicy bookinfo/slow -o yaml

  # A line for each policy that was rejected
  meshctl get policies -o jsonpath='{range .items[?(@.status.state=="INVALID")]}{.metadata.name}{"\\n"}{end}'`;
