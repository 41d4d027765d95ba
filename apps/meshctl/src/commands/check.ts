import { UsageError } from "@isthmus/core";
import { Command, Option } from "commander";
import { answered, inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import { CATEGORIES, type CategoryWord } from "../plane/checks/check.ts";
import type { ResultOptions } from "../plane/checks/printResults.ts";
import type { CheckResult } from "../plane/checks/report.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";

interface CheckOptions extends ManagementTarget, ResultOptions {
  readonly remoteContext: readonly string[];
  readonly remoteNamespace: string;
  readonly only?: readonly CategoryWord[];
  readonly skip?: readonly CategoryWord[];
}

/** `meshctl check`: is the management plane well, and are its clusters? */
export function checkCommand(runtime: CommandRuntime): Command {
  return (
    withResults(inManagement(new Command("check")))
      .description("Check the management plane, its clusters and the resources of users. Changes nothing, and sends no traffic.")
      .addOption(
        new Option("--remote-context <name...>", "also check the workload clusters of these contexts").default(
          [] as readonly string[],
          "none",
        ),
      )
      .option("--remote-namespace <name>", "namespace of the agents in them", "gloo-mesh")
      .addOption(new Option("--only <category...>", "check only these categories of the management plane").choices(Object.keys(CATEGORIES)))
      .addOption(
        new Option("--skip <category...>", "check all but these categories of the management plane").choices(Object.keys(CATEGORIES)),
      )
      // Of the published command, which forwards a port; ours reads what the servers have written, and needs none.
      .addOption(new Option("--local-port <port>").hideHelp())
      .addOption(new Option("--remote-port <port>").hideHelp())
      .addHelpText("after", CHECK_HELP)
      .action(async ({ remoteContext, remoteNamespace, only, skip, output, failOn, ...place }: CheckOptions) => {
        if (only !== undefined && skip !== undefined) throw new UsageError("--only and --skip are mutually exclusive");
        const { io, connect, now, finish } = runtime;
        const { runChecks } = await import("../plane/checks/runChecks.ts");
        const { printResults } = await import("../plane/checks/printResults.ts");
        const results = await inManagementCluster(place, connect, (cluster, signal) =>
          runChecks(
            cluster,
            { namespace: place.namespace, now: now(), selection: { ...(only && { only }), ...(skip && { skip }) } },
            signal,
          ),
        );
        const remote = [];
        for (const context of remoteContext)
          remote.push(...(await remoteResults({ ...place, context, namespace: remoteNamespace }, runtime)));
        finish(await printResults(io, [...results, ...remote], { output, failOn }));
      })
  );
}

/** One that cannot be reached makes the result incomplete, and leaves the others to be checked. */
async function remoteResults(
  place: ManagementTarget & { readonly context: string },
  runtime: CommandRuntime,
): Promise<readonly CheckResult[]> {
  const { REMOTE_CHECKS } = await import("../plane/precheck/prechecks.ts");
  const titled = (result: CheckResult): CheckResult => ({ ...result, category: `Cluster of context ${place.context}` });
  try {
    return (await targetResults(place, runtime, REMOTE_CHECKS)).map(titled);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [titled({ category: "", description: "The cluster can be checked", findings: [], unread: error.message })];
  }
}

/** `meshctl precheck`: can an agent be installed in a cluster? */
export function precheckCommand(runtime: CommandRuntime): Command {
  return withResults(inManagement(new Command("precheck"), { of: "the cluster", plane: "the agent" }))
    .description("Check a cluster before an agent is installed: versions, permissions, the mesh and its gateway. Changes nothing.")
    .addHelpText("after", PRECHECK_HELP)
    .action(async ({ output, failOn, ...place }: ManagementTarget & ResultOptions) => {
      const { PRECHECKS } = await import("../plane/precheck/prechecks.ts");
      const { printResults } = await import("../plane/checks/printResults.ts");
      const results = await targetResults(place, runtime, PRECHECKS);
      runtime.finish(await printResults(runtime.io, results, { output, failOn }));
    });
}

async function targetResults(
  place: ManagementTarget,
  { connect, connectApiServer }: CommandRuntime,
  checks: typeof import("../plane/precheck/prechecks.ts").PRECHECKS,
): Promise<readonly CheckResult[]> {
  const { readTarget } = await import("../plane/precheck/targetState.ts");
  const { resultOf } = await import("../plane/checks/runChecks.ts");
  const api = await connectApiServer(place);
  const cluster = await connect(place);
  const called = place.context === undefined ? "cluster" : `cluster of context ${place.context}`;
  const { state, unread } = await answered(called, place, (signal) => readTarget({ cluster, api }, place.namespace, signal));
  return checks.map((check) => resultOf(check, state, unread));
}

function withResults(command: Command): Command {
  return command
    .addOption(
      new Option("-o, --output <format>", "text, json or yaml; the exit code is the same")
        .choices(["text", "json", "yaml"])
        .default("text"),
    )
    .addOption(
      new Option("--fail-on <severity>", "exit with code 1 for findings of this severity or higher")
        .choices(["warning", "error"])
        .default("error"),
    );
}

const EXIT_CODES = `
Exit codes: 0 nothing was found, 1 something was (see --fail-on), 2 usage error or no answer, 3 nothing was found, but not everything
could be read.`;

const CHECK_HELP = `${EXIT_CODES}

Examples:
  meshctl check
  # In a pipeline, with two of the workload clusters
  meshctl check --context mgmt --remote-context east west -o json --fail-on warning

  # As a user who may not read the Secrets of the relay
  meshctl check --skip gloo-mesh`;

const PRECHECK_HELP = `${EXIT_CODES}

Examples:
  meshctl precheck --context east
  # In a pipeline
  meshctl precheck --context east -o json --fail-on warning`;
