import { UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { Command, Option } from "commander";
import type { Mode } from "../../cluster/clusterMode.ts";
import { inManagementCluster, type ManagementTarget, REQUEST_TIMEOUT_MS } from "../../cluster/managementCluster.ts";
import type { ExitCode } from "../../io.ts";
import { type CommandRuntime, inManagement } from "../commandRuntime.ts";
import { doneOrTried, dryRunOption } from "../dryRun.ts";
import { durationOption } from "../duration.ts";

interface ModeOptions extends ManagementTarget {
  readonly wait: boolean;
  readonly timeout: number;
  readonly observe?: true;
  readonly only?: readonly string[];
  readonly dryRun?: true;
}

/** `meshctl cluster pause` and `resume`: whether anything is written in a cluster. */
export function clusterModeCommands(runtime: CommandRuntime): readonly Command[] {
  return [
    inMode(new Command("pause"))
      .description("Stop all writes in a cluster. Its agent stays connected, and what exists stays as it is.")
      .option("--observe", "compare only, as for a cluster that is not managed yet: its services are withdrawn from other clusters, too")
      .addOption(onlyOption("only these objects, which were resumed with --only: they are no longer written, and stay as they are"))
      .addHelpText("after", PAUSE_HELP)
      .action((name: string, options: ModeOptions) => {
        if (options.only !== undefined) return changeObjects(name, "release", options, runtime);
        return changeMode(name, options.observe === true ? "observe" : "freeze", options, runtime);
      }),
    inMode(new Command("resume"))
      .description("Write what is desired in a cluster again.")
      .addOption(onlyOption("only these objects of a cluster in mode observe, which remains observed"))
      .addHelpText("after", RESUME_HELP)
      .action((name: string, options: ModeOptions) =>
        options.only === undefined ? changeMode(name, "manage", options, runtime) : changeObjects(name, "manage", options, runtime),
      ),
  ];
}

function inMode(command: Command): Command {
  return inManagement(command.argument("<name>", "name of the cluster"))
    .option("--wait", "wait until the agent has acknowledged the mode", true)
    .option("--no-wait", "do not wait for that")
    .addOption(durationOption("--timeout <duration>", "how long to wait", "1m"))
    .addOption(dryRunOption());
}

function onlyOption(description: string): Option {
  const option = new Option("--only <kind/namespace/name>", `${description}; * is any; can be repeated`);
  return option.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]);
}

/** Has some objects of an observed cluster written, or no longer. */
async function changeObjects(
  name: string,
  change: "manage" | "release",
  { only = [], observe, wait: _, timeout: __, dryRun, ...place }: ModeOptions,
  { io, connect }: CommandRuntime,
): Promise<void> {
  if (observe === true) throw new UsageError("--observe and --only are mutually exclusive: --only leaves the mode as it is");
  const { managedObjectNamed, manageObjects, releaseObjects, textOf } = await import("../../cluster/managedObjects.ts");
  const { appliersOf } = await import("../../cluster/clusterMode.ts");
  const { registeredCluster } = await import("../../plane/describe/printCluster.ts");
  const objects = only.map(managedObjectNamed);
  const { namespace } = place;
  const changing = (cluster: Cluster): Parameters<typeof manageObjects>[0] => ({ cluster, name, namespace });
  const changeNamed = change === "manage" ? manageObjects : releaseObjects;
  if (dryRun === true) {
    await doneOrTried(io, dryRun, async (within) => {
      await inManagementCluster(place, connect, (cluster, signal) => changeNamed(changing(within(cluster)), objects, signal));
    });
    return;
  }
  await inManagementCluster(place, connect, async (cluster, signal) => {
    const named = changing(cluster);
    const before = await registeredCluster(named, signal);
    const after = await changeNamed(named, objects, signal);
    const appliers = appliersOf(before, "managedObjects");
    if (appliers.length > 0) io.err(`${io.colors.yellow("warning:")} ${alsoApplied("managedObjects", named, appliers)}\n`);
    const are = after.length === 0 ? "nothing" : after.map(textOf).join(", ");
    io.note(`${name}: mode observe, and written is ${are}. To see what remains: meshctl cluster describe ${name}\n`);
  });
}

function alsoApplied(
  field: string,
  { name, namespace }: { readonly name: string; readonly namespace: string },
  by: readonly string[],
): string {
  return `spec.${field} of KubernetesCluster ${namespace}/${name} is also applied by ${by.join(", ")}, which may set it again: change it there, too`;
}

async function changeMode(
  name: string,
  mode: Mode,
  { wait, timeout, only: _, dryRun, ...place }: ModeOptions,
  { io, connect, finish }: CommandRuntime,
): Promise<void> {
  const { acknowledgedMode, appliersOf, setMode } = await import("../../cluster/clusterMode.ts");
  const { acknowledgedText, pendingText, SET_TEXTS } = await import("../../plane/modeText.ts");
  const { registeredCluster } = await import("../../plane/describe/printCluster.ts");
  const { systemClock: clock } = await import("@isthmus/plane/clock");
  const { namespace, requestTimeout = REQUEST_TIMEOUT_MS } = place;
  if (dryRun === true) {
    await doneOrTried(io, dryRun, async (within) => {
      await inManagementCluster(place, connect, async (cluster, signal) => {
        // Its error has the nearest name.
        await registeredCluster({ cluster, name, namespace }, signal);
        await setMode({ cluster: within(cluster), name, namespace, mode }, signal);
      });
    });
    return;
  }
  const say = (line: string): void => io.note(`${line}\n`);
  const all = { ...place, requestTimeout: requestTimeout + (wait ? timeout : 0) };
  const code = await inManagementCluster(all, connect, async (cluster, signal): Promise<ExitCode> => {
    const named = { cluster, name, namespace, mode };
    // Its error has the nearest name.
    const before = await registeredCluster(named, signal);
    await setMode(named, signal);
    const appliers = appliersOf(before, "mode");
    if (appliers.length > 0) say(`${io.colors.yellow("warning:")} ${alsoApplied("mode", named, appliers)}`);
    if (mode === "manage") say(pendingText(before));
    say(`${name}: ${SET_TEXTS[mode]}`);
    if (!wait) return 0;
    io.progress(`waiting for ${name} to acknowledge mode ${mode}`);
    try {
      const outcome = await acknowledgedMode(named, { clock, timeoutMs: timeout }, signal);
      io.progress("");
      say(acknowledgedText(name, mode, outcome));
      return outcome.is === "unreachable" ? 3 : 0;
    } finally {
      io.progress("");
    }
  });
  finish(code);
}

const EXIT_CODES = `
Exit codes: 0 the mode is set and, without --no-wait, acknowledged; 2 usage error or no answer; 3 the mode is set, and the agent cannot be
reached; 124 the mode is set, and not acknowledged in time.`;

const PAUSE_HELP = `
Sets spec.mode of the KubernetesCluster: freeze, or observe. "meshctl cluster describe NAME" shows what would be written.
${EXIT_CODES}

Examples:
  meshctl cluster pause east
  meshctl cluster pause east --context mgmt --no-wait

  # Take back one object of a cluster that is switched over object by object
  meshctl cluster pause east --only VirtualService/bookinfo/reviews`;

const RESUME_HELP = `
Sets spec.mode of the KubernetesCluster to manage; with --only it adds to spec.managedObjects, and the mode remains observe. Deletes on hold are planned again; many of them at once wait for approval.
${EXIT_CODES}

Examples:
  # What will be written
  meshctl cluster describe east

  # Switch over object by object, then everything
  meshctl cluster resume east --only VirtualService/bookinfo/reviews
  meshctl cluster resume east`;
