import { UsageError } from "@isthmus/core";
import { Command, Option } from "commander";
import type { ManagementTarget } from "../cluster/managementCluster.ts";
import { ADMIN_HELP, type AdminFlags, adminPages, checkAdminFlags, withAdmin } from "./adminOptions.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";

interface ExplainOptions extends ManagementTarget, AdminFlags {
  readonly agent?: true;
  readonly cluster?: string;
  readonly output: "text" | "json" | "yaml";
}

/** `meshctl explain delete`: why is an object gone? */
export function explainCommand(runtime: CommandRuntime): Command {
  const group = new Command("explain").description("Explain what the management plane did.");
  const command = new Command("delete")
    .argument("[kind]", "only objects of this kind, such as VirtualService")
    .argument("[name]", "only this object: name, or namespace/name");
  const deletes = withAdmin(inManagement(command, { of: "the cluster" }))
    .description("Print the last deletes of generated objects, the latest first, each with its cause: what was deleted or changed.")
    .option("--agent", "ask the agent in the cluster of --context, instead of the management server")
    .option("--cluster <name>", "only objects of this cluster")
    .addOption(new Option("-o, --output <format>", "text, json or yaml").choices(["text", "json", "yaml"]).default("text"))
    .addHelpText("after", HELP)
    .action((kind: string | undefined, name: string | undefined, options: ExplainOptions) =>
      printDeletions({ kind, name }, options, runtime),
    );
  group.addCommand(deletes);
  return group;
}

async function printDeletions(
  { kind, name }: { readonly kind: string | undefined; readonly name: string | undefined },
  options: ExplainOptions,
  runtime: CommandRuntime,
): Promise<void> {
  const { io, now, finish } = runtime;
  const { agent, cluster, output } = options;
  checkFlags(options);
  const { deletionsIn, deletionsText, inTimeOrder, matchingDeletions } = await import("../plane/deletions.ts");
  const { pages, isComplete } = await adminPages(runtime, options, { program: agent ? "agent" : "server", path: "/evidence" });
  const all = inTimeOrder(pages.map(deletionsIn));
  const filter = {
    ...(kind === undefined ? {} : { kind }),
    ...(name === undefined ? {} : { name }),
    ...(cluster === undefined ? {} : { cluster }),
  };
  const found = matchingDeletions(all, filter);
  const { columns } = io;
  const text = (): string => deletionsText(found, { now: now(), ...(columns === undefined ? {} : { width: columns }) });
  const { dataText } = await import("../plane/dataText.ts");
  await io.out(output === "text" ? text() : dataText({ items: found }, output));
  const who =
    pages.length > 1
      ? `these ${pages.length} ${agent ? "agents" : "servers"} know since they`
      : `this ${agent ? "agent" : "server"} knows since it`;
  if (found.length === 0) io.note(`No such delete among the last ${all.length} that ${who} started.\n`);
  finish(isComplete ? 0 : 3);
}

/** Throws UsageError for options of which one would be passed over. */
function checkFlags(options: ExplainOptions): void {
  checkAdminFlags(options);
  const { adminAddress, kubeconfig, context, agent } = options;
  const unused = [
    ...(kubeconfig === undefined ? [] : ["--kubeconfig"]),
    ...(context === undefined ? [] : ["--context"]),
    ...(agent === undefined ? [] : ["--agent"]),
  ];
  if (adminAddress !== undefined && unused.length > 0)
    throw new UsageError(`--admin-address and ${unused[0]} are mutually exclusive: it names the program that is asked`);
}

const HELP = `${ADMIN_HELP} A server knows the last 1,000 deletes since it started; an agent those in its own cluster.

Exit codes: 0 all that was asked has answered, 2 usage error, no answer, or no permission, 3 some replicas have not answered.

Examples:
  meshctl explain delete --context mgmt

  # Why is this VirtualService of cluster east gone?
  meshctl explain delete VirtualService bookinfo/reviews --cluster east --context mgmt

  # What its agent has deleted there
  meshctl explain delete --agent --context east`;
