import { Command, Option } from "commander";
import type { ExitCode, Io } from "../io.ts";
import type { WhatIfOptions } from "../offline/whatIf/whatIf.ts";

/** `meshctl what-if`: who is left without a target when a cluster fails, and where traffic goes then. */
export function whatIfCommand(io: Io, finish: (code: ExitCode) => void): Command {
  return new Command("what-if")
    .description(
      "Show which hosts lose their targets when clusters fail, and where the traffic of others goes then. Does not need a cluster.",
    )
    .requiredOption("--without <clusters>", "clusters whose endpoints and gateways are taken away, separated by commas")
    .option("-f, --file <path...>", "files or directories with YAML or JSON, as for meshctl translate; - reads standard input")
    .option("--snapshot <file...>", "instead of -f: the page /snapshots/input of a server's admin port, saved to a file")
    .addOption(new Option("-o, --output <format>", "output format").choices(["table", "json", "yaml"]).default("table"))
    .addOption(
      new Option("--fail-on <result>", "exit with code 1 for hosts with this result or a worse one")
        .choices(["no-target", "partial", "moved", "backup-lost", "never"] satisfies WhatIfOptions["failOn"][])
        .default("no-target"),
    )
    .option("-n, --namespace <name>", "namespace of the management plane", "gloo-mesh")
    .allowExcessArguments(false)
    .addHelpText("after", HELP)
    .action(async (options: WhatIfOptions) => {
      const [{ whatIf }, { whatIfData, whatIfTable }] = await Promise.all([
        import("../offline/whatIf/whatIf.ts"),
        import("../plane/whatIfText.ts"),
      ]);
      finish(
        await whatIf(options, io, (hosts, { without, output }) =>
          output === "table" ? whatIfTable(hosts, io.columns) : whatIfData(hosts, without, output),
        ),
      );
    });
}

const HELP = `
The input is translated twice, the second time without the endpoints and gateways of these clusters. Hosts that used them:

  NO_TARGET    no request has a target; of a Service of these clusters: no other cluster has pods of a Service of its name and namespace, and no
               VirtualDestination leads to another one
  PARTIAL      a policy shifts some of the requests to a host that has no target any more
  MOVED        all requests go to other clusters now, in the order in which they are named
  BACKUP_LOST  requests go where they went; a cluster that would take over is missing
  ELSEWHERE    a Service of these clusters; its own callers are gone with it, and pods of the same Service, or a VirtualDestination, are left elsewhere

It is computed from configuration, not observed: whether other clusters have the capacity, are healthy, and can be reached is not known; nor is what
users route with objects of Istio of their own, or which callers access policies refuse.

Exit codes: 0 no host has a result as bad as --fail-on, 1 some have, 2 usage error or unreadable input.

Examples:
  # What stops working without cluster west, and where does the rest of its traffic go?
  meshctl what-if --without west -f east.json west.json policies/

  # In CI: both clusters of a region may fail together, and every request has a target still
  meshctl what-if --without east-1,east-2 -f clusters/ policies/ --fail-on partial -o json

  # With what a running server knows
  kubectl -n gloo-mesh port-forward deploy/gloo-mesh-mgmt-server 9091 &
  curl -s http://127.0.0.1:9091/snapshots/input > snapshot.json
  meshctl what-if --without west --snapshot snapshot.json`;
