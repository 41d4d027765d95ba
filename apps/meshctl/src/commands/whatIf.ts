import { UsageError } from "@isthmus/core";
import { Command, Option } from "commander";
import type { ManagementTarget } from "../cluster/managementCluster.ts";
import type { WhatIfOptions } from "../offline/whatIf/whatIf.ts";
import { type AdminFlags, adminAnswers, checkAdminFlags, withAdmin } from "./adminOptions.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";

interface WhatIfFlags extends Omit<WhatIfOptions, "live">, ManagementTarget, AdminFlags {
  readonly live?: true;
}

/** `meshctl what-if`: who is left without a target when a cluster fails, and where traffic goes then. */
export function whatIfCommand(runtime: CommandRuntime): Command {
  const command = new Command("what-if")
    .description(
      "Show which hosts lose their targets when clusters fail, and where the traffic of others goes then. Needs no cluster, except with --live.",
    )
    .requiredOption("--without <clusters>", "clusters whose endpoints and gateways are taken away, separated by commas")
    .option("-f, --file <path...>", "files or directories with YAML or JSON, as for meshctl translate; - reads standard input")
    .option("--snapshot <file...>", "instead of -f: what a server knows, as meshctl snapshot save writes it")
    .option("--live", "instead of -f: that page of a running server, through the API server or of --admin-address")
    .addOption(new Option("-o, --output <format>", "output format").choices(["table", "json", "yaml"]).default("table"))
    .addOption(
      new Option("--fail-on <result>", "exit with code 1 for hosts with this result or a worse one")
        .choices(["no-target", "partial", "moved", "backup-lost", "never"] satisfies WhatIfOptions["failOn"][])
        .default("no-target"),
    );
  return withAdmin(inManagement(command))
    .addHelpText("after", HELP)
    .action((flags: WhatIfFlags) => run(flags, runtime));
}

async function run({ live: isLive, ...flags }: WhatIfFlags, runtime: CommandRuntime): Promise<void> {
  const { io, finish } = runtime;
  const { adminAddress, kubeconfig, context, file, snapshot } = flags;
  const [{ checkWhatIfInput, whatIf }, { whatIfData, whatIfTable }] = await Promise.all([
    import("../offline/whatIf/whatIf.ts"),
    import("../plane/whatIfText.ts"),
  ]);
  checkWhatIfInput({ file, snapshot, live: isLive });
  checkAdminFlags(flags);
  const [unused] = Object.entries({ "--admin-address": adminAddress, "--kubeconfig": kubeconfig, "--context": context }).flatMap(
    ([name, value]) => (value === undefined ? [] : [name]),
  );
  if (isLive === undefined && unused !== undefined) throw new UsageError(`${unused} needs --live: files are read without a cluster`);
  const live = isLive === undefined ? {} : { live: await serverSnapshot(flags, runtime) };
  finish(
    await whatIf({ ...flags, ...live }, io, (hosts, { without, output }) =>
      output === "table" ? whatIfTable(hosts, io.columns) : whatIfData(hosts, without, output),
    ),
  );
}

/** Replicas know the same: one is asked. */
async function serverSnapshot(flags: Omit<WhatIfFlags, "live">, runtime: CommandRuntime): Promise<readonly string[]> {
  const { inputSnapshot } = await import("../plane/inputSnapshot.ts");
  const { answers } = await adminAnswers(runtime, flags, { program: "server", read: inputSnapshot, isOneEnough: true });
  return answers[0] ?? [];
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

With --live one running server is asked, through the API server as kubectl port-forward does: your user needs the verbs get and create on
pods/portforward, and list on Deployments and pods. All replicas know the same, once they have heard of all clusters; those that the one does not
know yet are named.

Exit codes: 0 no host has a result as bad as --fail-on, 1 some have, 2 usage error, no answer or unreadable input, 3 none has, and the server knows
nothing of some registered clusters.

Examples:
  # What stops working without cluster west, and where does the rest of its traffic go?
  meshctl what-if --without west -f east.json west.json policies/

  # In CI: both clusters of a region may fail together, and every request has a target still
  meshctl what-if --without east-1,east-2 -f clusters/ policies/ --fail-on partial -o json

  # With what a running server knows
  meshctl what-if --without west --live --context mgmt

  # The same from what was saved of one
  meshctl snapshot save snapshot.json --context mgmt
  meshctl what-if --without west --snapshot snapshot.json`;
