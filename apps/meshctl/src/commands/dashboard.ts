import { UsageError } from "@isthmus/core";
import { Command, Option } from "commander";
import type { ManagementTarget } from "../cluster/managementCluster.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";
import { localPort } from "./localPort.ts";

interface DashboardFlags extends ManagementTarget {
  readonly port: number;
  readonly cluster?: string;
  readonly open?: true;
}

/** `meshctl dashboard`: the console that runs in the management cluster, in the user's browser. */
export function dashboardCommand(runtime: CommandRuntime): Command {
  return inManagement(new Command("dashboard"))
    .description(
      "Reach the console in the management cluster from this machine, until Ctrl-C, and print its address, or that of the page of an object.",
    )
    .argument("[kind]", "kind of an object: as of meshctl get, or such as VirtualService, or KIND.GROUP")
    .argument("[name]", "its name, or namespace/name; a name alone is in the namespace of the management plane")
    .addOption(new Option("-p, --port <number>", "port on 127.0.0.1; 0 selects any free port").default(8090).argParser(localPort))
    .option("--cluster <name>", "cluster of the object; default: the management cluster, where policies and discovered objects are")
    .option("--open", "open the address with xdg-open, or open on macOS")
    .addHelpText("after", HELP)
    .action((kind: string | undefined, name: string | undefined, flags: DashboardFlags) => run({ kind, name }, flags, runtime));
}

async function run(
  { kind, name }: { readonly kind: string | undefined; readonly name: string | undefined },
  { port, cluster, open, ...place }: DashboardFlags,
  runtime: CommandRuntime,
): Promise<void> {
  if (kind !== undefined && name === undefined) throw new UsageError(`the name of an object must follow its kind: NAME, or NAMESPACE/NAME`);
  if (kind === undefined && cluster !== undefined)
    throw new UsageError("--cluster has no effect without the kind and the name of an object");
  const object = kind === undefined || name === undefined ? undefined : { kind, name, ...(cluster === undefined ? {} : { cluster }) };
  const { serveDashboard } = await import("../plane/dashboard.ts");
  await serveDashboard({ place, object, port, opens: open === true }, runtime, runtime.catchInterrupts());
  runtime.finish(0);
  // Ended while it connected, it may still wait for an API server that says nothing.
  runtime.leave?.();
}

const HELP = `
Each connection is forwarded through the API server to a pod of gloo-mesh-ui, as kubectl port-forward does, and to another one after an
update; your user needs the verbs get and create on pods/portforward, and list on Deployments and pods. While it runs, all users of this
machine can read the console. It writes nothing.

Exit codes: 0 it was ended, 2 usage error, a port that is in use, no console, no permission or no answer.

Examples:
  meshctl dashboard --context mgmt --open

  # The page of a Destination, and of an object in cluster east
  meshctl dashboard destination reviews-bookinfo-east
  meshctl dashboard VirtualService bookinfo/reviews --cluster east --port 0`;
