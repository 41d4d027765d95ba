import { UsageError } from "@isthmus/core";
import { Command } from "commander";
import { answered, inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import { PRINTED_KINDS, type PrintedKind } from "../plane/kinds.ts";
import type { Format } from "../plane/printObjects.ts";
import type { Watching } from "../plane/watchKinds.ts";
import { examples, READ_EXIT_CODES } from "./commandLine/helpText.ts";
import { objectFormatOption } from "./commandLine/objectFormat.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";

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
    .addOption(objectFormatOption())
    .option("-w, --watch", "after that print each object again when it changes, until Ctrl-C")
    .option("--watch-only", "print changes alone, not what there is")
    .option("--output-watch-events", "with --watch: begin each row with ADDED, MODIFIED or DELETED");
  if (printed.kinds.some((kind) => DISCOVERED.includes(kind))) command.option("--cluster <name>", "only objects of this cluster");
  return inManagement(command, { namespaceOption: false }).action(async (names: readonly string[], options: GetOptions) => {
    const { namespace, cluster, output, watch, watchOnly, outputWatchEvents, ...place } = options;
    const selection = { ...(namespace === undefined ? {} : { namespace }), ...(cluster === undefined ? {} : { cluster }) };
    const printing = { ...runtime, kinds: printed.kinds, selection, names, format: output };
    if (watch === true || watchOnly === true) return watchKind(printing, options, runtime);
    refuseEvents(outputWatchEvents);
    const { printKinds } = await import("../plane/printKinds.ts");
    await inManagementCluster({ namespace: "", ...place }, runtime.connect, (management, signal) =>
      printKinds({ ...printing, cluster: management }, signal),
    );
  });
}

function refuseEvents(outputWatchEvents: true | undefined): void {
  if (outputWatchEvents === true) throw new UsageError("--output-watch-events needs --watch or --watch-only");
}

/** Prints until the user ends it, which is no failure. */
async function watchKind(
  printing: Omit<Watching, "cluster" | "isChangesOnly" | "hasEvents">,
  { watchOnly, outputWatchEvents, output: _, watch: __, cluster: ___, ...given }: GetOptions,
  runtime: CommandRuntime,
): Promise<void> {
  const place = { namespace: "", ...given };
  const signal = runtime.catchInterrupts();
  const [{ watchKinds }, cluster] = await Promise.all([import("../plane/watchKinds.ts"), runtime.connect(place)]);
  await watchKinds(
    { ...printing, cluster, isChangesOnly: watchOnly === true, hasEvents: outputWatchEvents === true },
    (read) => answered("management cluster", place, (within) => read(AbortSignal.any([within, signal]))),
    signal,
  );
  runtime.finish(0);
  runtime.leave?.();
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
  readonly watch?: true;
  readonly watchOnly?: true;
  readonly outputWatchEvents?: true;
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

  # Each policy again when its state changes, as after kubectl apply in another terminal
  meshctl get policies --watch

  # One object with its whole status
  meshctl get trafficpolicy bookinfo/slow -o yaml

  # A line for each policy that was rejected
  meshctl get policies -o jsonpath='{range .items[?(@.status.state=="INVALID")]}{.metadata.name}{"\\n"}{end}'`;
