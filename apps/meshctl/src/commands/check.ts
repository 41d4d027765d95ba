import { UsageError, uptimeOf } from "@isthmus/core";
import type { ApiServer } from "@isthmus/kubernetes";
import type { Cluster } from "@isthmus/ports";
import { Command, Option } from "commander";
import { answered, inManagementCluster, type ManagementTarget } from "../cluster/managementCluster.ts";
import { checkSuppressions, type LineSuppression } from "../offline/suppressions.ts";
import { CATEGORIES, type CategoryWord } from "../plane/checks/check.ts";
import type { ResultOptions } from "../plane/checks/printResults.ts";
import type { CheckResult } from "../plane/checks/report.ts";
import { type CommandRuntime, durationMs, inManagement } from "./commandRuntime.ts";
import { suppressOption } from "./suppressOption.ts";

interface Suppressing {
  readonly suppress?: readonly LineSuppression[];
}

interface CheckOptions extends ManagementTarget, ResultOptions, Suppressing {
  readonly wait?: true;
  readonly timeout: number;
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
      .option("--wait", "check again every second until nothing is found; only the last results are printed")
      .addOption(new Option("--timeout <duration>", "how long --wait may take").argParser(durationMs).default(WAIT_MS, "5m"))
      // Of the published command, which forwards a port; ours reads what the servers have written, and needs none.
      .addOption(new Option("--local-port <port>").hideHelp())
      .addOption(new Option("--remote-port <port>").hideHelp())
      .addHelpText("after", CHECK_HELP)
      .action(async ({ wait, timeout, ...options }: CheckOptions, command: Command) => {
        if (wait !== true && command.getOptionValueSource("timeout") === "cli")
          throw new UsageError("--timeout has no effect without --wait");
        if (options.only !== undefined && options.skip !== undefined) throw new UsageError("--only and --skip are mutually exclusive");
        await checkCodes(options);
        const { printResults } = await import("../plane/checks/printResults.ts");
        const { results, isLate } =
          wait === true ? await awaitedResults(options, timeout, runtime) : { results: await allResults(options, runtime), isLate: false };
        const code = await printResults(runtime.io, results, options);
        runtime.finish(isLate ? 124 : code);
      })
  );
}

const WAIT_MS = 300_000;
/** As often as gates of a registration are looked at. */
const AGAIN_MS = 1_000;

type Checked = Omit<CheckOptions, "wait" | "timeout">;

/** Throws UsageError for a suppression of what is no code of a check. */
async function checkCodes({ suppress }: Suppressing): Promise<void> {
  if (suppress === undefined) return;
  const { CHECK_CODES, RENAMED_CODES } = await import("../plane/checks/codes.ts");
  const { EXPLAINED_CODES } = await import("@isthmus/insights/catalogue");
  checkSuppressions(suppress, [...Object.keys(CHECK_CODES), ...Object.keys(RENAMED_CODES), ...EXPLAINED_CODES.map(({ code }) => code)]);
}

/** Results in which nothing is found, or the last ones before the time is over. An API server that does not answer ends it at once. */
async function awaitedResults(
  options: Checked,
  timeoutMs: number,
  runtime: CommandRuntime,
): Promise<{ readonly results: readonly CheckResult[]; readonly isLate: boolean }> {
  const { io } = runtime;
  const { systemClock: clock } = await import("@isthmus/plane/clock");
  const { checkExitCode } = await import("../plane/checks/exitCode.ts");
  const { checkSummary } = await import("../plane/checks/report.ts");
  const end = uptimeOf(clock) + timeoutMs;
  try {
    for (;;) {
      const results = await allResults(options, runtime);
      if (checkExitCode(results, options.failOn) === 0) return { results, isLate: false };
      if (uptimeOf(clock) + AGAIN_MS > end) return { results, isLate: true };
      io.progress(`waiting: ${checkSummary(results).trim()}`);
      await clock.sleep(AGAIN_MS);
    }
  } finally {
    io.progress("");
  }
}

async function allResults(
  { remoteContext, remoteNamespace, only, skip, suppress, output: _, failOn: __, ...place }: Checked,
  runtime: CommandRuntime,
): Promise<readonly CheckResult[]> {
  const { connect, now } = runtime;
  const { runChecks } = await import("../plane/checks/runChecks.ts");
  const selection = { ...(only && { only }), ...(skip && { skip }) };
  // A context that is not there is a mistake on the line, and no cluster that cannot be reached.
  const remotes = [];
  for (const context of remoteContext) {
    const remote = { ...place, context, namespace: remoteNamespace };
    remotes.push({ place: remote, target: await targetOf(remote, runtime) });
  }
  const results = await inManagementCluster(place, connect, (cluster, signal) =>
    runChecks(cluster, { namespace: place.namespace, now: now(), selection }, signal),
  );
  const others = [];
  const managementAheadMs = remotes.length === 0 ? undefined : await clockOf(place, runtime);
  for (const remote of remotes) others.push(...(await remoteResults(remote, managementAheadMs)));
  const { withoutSuppressed } = await import("../plane/checks/withoutSuppressed.ts");
  return withoutSuppressed([...results, ...others], suppress);
}

interface Remote {
  readonly place: ManagementTarget & { readonly context: string };
  readonly target: Target;
}

/** How far the clock of the management cluster is ahead of this machine's, in milliseconds; undefined: not known. */
async function clockOf(place: ManagementTarget, { connectApiServer }: CommandRuntime): Promise<number | undefined> {
  const api = await connectApiServer(place);
  return answered("management cluster", place, (signal) => api.clockAheadMs(signal));
}

/** One that cannot be reached makes the result incomplete, and leaves the others to be checked. */
async function remoteResults({ place, target }: Remote, managementAheadMs: number | undefined): Promise<readonly CheckResult[]> {
  const { REMOTE_CHECKS } = await import("../plane/precheck/prechecks.ts");
  const titled = (result: CheckResult): CheckResult => ({ ...result, category: `Cluster of context ${place.context}` });
  try {
    return (await targetResults(place, target, { checks: REMOTE_CHECKS, managementAheadMs })).map(titled);
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
    .action(async ({ output, failOn, suppress, ...place }: ManagementTarget & ResultOptions & Suppressing) => {
      await checkCodes({ ...(suppress && { suppress }) });
      const { withoutSuppressed } = await import("../plane/checks/withoutSuppressed.ts");
      const { PRECHECKS } = await import("../plane/precheck/prechecks.ts");
      const { printResults } = await import("../plane/checks/printResults.ts");
      const results = await targetResults(place, await targetOf(place, runtime), { checks: PRECHECKS });
      runtime.finish(await printResults(runtime.io, withoutSuppressed(results, suppress), { output, failOn }));
    });
}

interface Target {
  readonly api: ApiServer;
  readonly cluster: Cluster;
}

/** Throws UsageError where the kubeconfig has no such context. */
async function targetOf(place: ManagementTarget, { connect, connectApiServer }: CommandRuntime): Promise<Target> {
  return { api: await connectApiServer(place), cluster: await connect(place) };
}

async function targetResults(
  place: ManagementTarget,
  target: Target,
  {
    checks,
    managementAheadMs,
  }: { readonly checks: typeof import("../plane/precheck/prechecks.ts").PRECHECKS; readonly managementAheadMs?: number | undefined },
): Promise<readonly CheckResult[]> {
  const { readTarget } = await import("../plane/precheck/targetState.ts");
  const { resultsOf } = await import("../plane/checks/runChecks.ts");
  const needed = new Set<string>(checks.flatMap(({ reads }) => reads));
  const reading = { namespace: place.namespace, needed, managementAheadMs };
  const called = place.context === undefined ? "cluster" : `cluster of context ${place.context}`;
  const { state, unread } = await answered(called, place, (signal) => readTarget(target, reading, signal));
  return resultsOf(checks, state, unread);
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
        .choices(["info", "warning", "error"])
        .default("error"),
    )
    .addOption(suppressOption("findings"));
}

const EXIT_CODES = `
Exit codes: 0 nothing was found, 1 something was (see --fail-on), 2 usage error or no answer, 3 nothing was found, but not everything
could be read.`;

const CHECK_HELP = `${EXIT_CODES} With --wait, 124: something was found until the end.

Examples:
  meshctl check
  # In a pipeline, with two of the workload clusters
  meshctl check --context mgmt --remote-context east west -o json --fail-on warning

  # After an installation or an upgrade
  meshctl check --context mgmt --wait --timeout 10m

  # Without single pods in one cluster's services, which are meant
  meshctl check -S RES1002 -S 'FED1013=VirtualMesh lab.gloo-mesh'

  # As a user who may not read the Secrets of the relay
  meshctl check --skip gloo-mesh`;

const PRECHECK_HELP = `${EXIT_CODES}

Examples:
  meshctl precheck --context east
  # In a pipeline
  meshctl precheck --context east -o json --fail-on warning`;
