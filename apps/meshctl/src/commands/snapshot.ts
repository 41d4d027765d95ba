import { Command, Option } from "commander";
import { version } from "../../package.json";
import type { ManagementTarget } from "../cluster/managementCluster.ts";
import { ADMIN_HELP, type AdminFlags, adminAnswers, checkAdminFlags, withAdmin } from "./adminOptions.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";
import { localPort } from "./localPort.ts";

/** `meshctl snapshot`: what was saved of a fleet. */
export function snapshotCommand(runtime: CommandRuntime): Command {
  return new Command("snapshot")
    .description("Save what a server knows of its fleet, and look at it.")
    .addCommand(saveCommand(runtime))
    .addCommand(serveCommand(runtime));
}

/** `meshctl snapshot save`: a file for validate, translate, insights, what-if and serve. */
function saveCommand(runtime: CommandRuntime): Command {
  const command = new Command("save")
    .description("Save what a running server knows of its fleet to a file, which other commands take with --snapshot.")
    .argument("<file>", "where to; a file that is there is replaced once all has been read; - writes to standard output");
  return withAdmin(inManagement(command))
    .addHelpText("after", SAVE_HELP)
    .action(async (file: string, flags: ManagementTarget & AdminFlags) => {
      checkAdminFlags(flags);
      const [{ inputSnapshot }, { saveSnapshot }] = await Promise.all([
        import("../plane/inputSnapshot.ts"),
        import("../plane/saveSnapshot.ts"),
      ]);
      // Replicas know the same: one is asked.
      const { answers } = await adminAnswers(runtime, flags, { program: "server", read: inputSnapshot, isOneEnough: true });
      const count = await saveSnapshot(answers[0] ?? [], file, runtime.io);
      runtime.io.note(`${count} object${count === 1 ? "" : "s"} saved\n`);
      runtime.finish(0);
    });
}

/** `meshctl snapshot serve`: the console, on a file. */
function serveCommand({ io, finish, catchInterrupts }: CommandRuntime): Command {
  return new Command("serve")
    .description("Serve the console of a saved fleet on this machine, until Ctrl-C.")
    .argument("<file>", "the page /snapshots/input of a server's admin port, saved to a file; also YAML or JSON of what clusters hold")
    .option("-n, --namespace <name>", "namespace of the management plane", "gloo-mesh")
    .addOption(new Option("--port <number>", "port on 127.0.0.1; 0 selects any free port").default(8090).argParser(localPort))
    .allowExcessArguments(false)
    .addHelpText("after", HELP)
    .action(async (file: string, flags: { readonly namespace: string; readonly port: number }) => {
      const { serveSnapshot } = await import("../offline/serveSnapshot.ts");
      await serveSnapshot({ file, ...flags, version }, io, catchInterrupts());
      finish(0);
    });
}

const SAVE_HELP = `${ADMIN_HELP}

The file is readable by you alone: it has the configuration of your clusters.

Exit codes: 0 saved, 2 usage error, no answer, or a file that cannot be written.

Examples:
  meshctl snapshot save fleet.json --context mgmt
  meshctl snapshot save fleet.json --admin-address http://127.0.0.1:9091`;

const HELP = `
Translation and insights are computed of the file. It prints the address of the console, which other machines cannot reach. It writes nothing.

Exit codes: 0 it was ended, 2 usage error, unreadable input, or a port that is in use.

Examples:
  meshctl snapshot save snapshot.json
  meshctl snapshot serve snapshot.json
  meshctl snapshot serve --port 0 snapshot.json`;
