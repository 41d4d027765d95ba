import { UsageError } from "@isthmus/core";
import { Command, Option } from "commander";
import { answered, REQUEST_TIMEOUT_MS } from "../cluster/managementCluster.ts";
import { ADMIN_HELP, ADMIN_UNANSWERED, type AdminFlags, withAdmin } from "./adminOptions.ts";
import { type CommandRuntime, requestTimeoutOption } from "./commandRuntime.ts";

interface ExplainOptions extends AdminFlags {
  readonly cluster?: string;
  readonly output: "text" | "json";
  readonly requestTimeout?: number;
}

/** `meshctl explain delete`: why is an object gone? */
export function explainCommand(runtime: CommandRuntime): Command {
  const group = new Command("explain").description("Explain what the management plane did.");
  const deletes = withAdmin(new Command("delete"))
    .argument("[kind]", "only objects of this kind, such as VirtualService")
    .argument("[name]", "only this object: name, or namespace/name")
    .description("Print the last deletes of generated objects, the latest first, each with its cause: what was deleted or changed.")
    .option("--cluster <name>", "only objects of this cluster")
    .addOption(new Option("-o, --output <format>", "text or json").choices(["text", "json"]).default("text"))
    .addOption(requestTimeoutOption())
    .allowExcessArguments(false)
    .addHelpText("after", HELP)
    .action((kind: string | undefined, name: string | undefined, options: ExplainOptions) =>
      printDeletions({ kind, name }, options, runtime),
    );
  group.addCommand(deletes);
  return group;
}

async function printDeletions(
  { kind, name }: { readonly kind: string | undefined; readonly name: string | undefined },
  { adminAddress, adminTokenFile, cluster, output, requestTimeout = REQUEST_TIMEOUT_MS }: ExplainOptions,
  { io, now, readAdminPage }: CommandRuntime,
): Promise<void> {
  if (adminAddress === undefined) {
    throw new UsageError(
      "--admin-address is required: kubectl -n gloo-mesh port-forward deployment/gloo-mesh-mgmt-server 9091, then --admin-address http://127.0.0.1:9091",
    );
  }
  const { deletionsIn, deletionsJson, deletionsText, matchingDeletions } = await import("../plane/deletions.ts");
  const address = { url: adminAddress, ...(adminTokenFile === undefined ? {} : { tokenFile: adminTokenFile }) };
  const page = await answered("admin port", { requestTimeout }, (signal) => readAdminPage(address, "/evidence", signal), ADMIN_UNANSWERED);
  const all = deletionsIn(page);
  const filter = {
    ...(kind === undefined ? {} : { kind }),
    ...(name === undefined ? {} : { name }),
    ...(cluster === undefined ? {} : { cluster }),
  };
  const found = matchingDeletions(all, filter);
  const { columns } = io;
  const text = (): string => deletionsText(found, { now: now(), ...(columns === undefined ? {} : { width: columns }) });
  await io.out(output === "json" ? deletionsJson(found) : text());
  if (found.length === 0) io.err(`No such delete among the last ${all.length} that this server knows since it started.\n`);
}

const HELP = `${ADMIN_HELP} A server knows the last 1,000 deletes since it started; an agent those in its own cluster.

Examples:
  meshctl explain delete --admin-address http://127.0.0.1:9091
  # Why is this VirtualService of cluster east gone?
  meshctl explain delete VirtualService bookinfo/reviews --cluster east --admin-address http://127.0.0.1:9091`;
