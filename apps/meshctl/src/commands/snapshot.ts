import { Command, Option } from "commander";
import { version } from "../../package.json";
import type { CommandRuntime } from "./commandRuntime.ts";
import { localPort } from "./localPort.ts";

/** `meshctl snapshot`: what was saved of a fleet. */
export function snapshotCommand(runtime: CommandRuntime): Command {
  return new Command("snapshot").description("Look at what was saved of a fleet.").addCommand(serveCommand(runtime));
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

const HELP = `
Translation and insights are computed of the file. It prints the address of the console, which other machines cannot reach. It writes nothing.

Exit codes: 0 it was ended, 2 usage error, unreadable input, or a port that is in use.

Examples:
  curl -s http://127.0.0.1:9091/snapshots/input > snapshot.json
  meshctl snapshot serve snapshot.json
  meshctl snapshot serve --port 0 snapshot.json`;
