import { Command } from "commander";
import type { Mode } from "../cluster/clusterMode.ts";
import { inManagementCluster, type ManagementTarget, REQUEST_TIMEOUT_MS } from "../cluster/managementCluster.ts";
import type { ExitCode } from "../io.ts";
import { type CommandRuntime, inManagement } from "./commandRuntime.ts";
import { durationOption } from "./duration.ts";

interface ModeOptions extends ManagementTarget {
  readonly wait: boolean;
  readonly timeout: number;
  readonly observe?: true;
}

/** `meshctl cluster pause` and `resume`: whether anything is written in a cluster. */
export function clusterModeCommands(runtime: CommandRuntime): readonly Command[] {
  return [
    inMode(new Command("pause"))
      .description("Stop all writes in a cluster. Its agent stays connected, and what exists stays as it is.")
      .option("--observe", "compare only, as for a cluster that is not managed yet: its services are withdrawn from other clusters, too")
      .addHelpText("after", PAUSE_HELP)
      .action((name: string, options: ModeOptions) => changeMode(name, options.observe === true ? "observe" : "freeze", options, runtime)),
    inMode(new Command("resume"))
      .description("Write what is desired in a cluster again.")
      .addHelpText("after", RESUME_HELP)
      .action((name: string, options: ModeOptions) => changeMode(name, "manage", options, runtime)),
  ];
}

function inMode(command: Command): Command {
  return inManagement(command.argument("<name>", "name of the cluster"))
    .option("--wait", "wait until the agent has acknowledged the mode", true)
    .option("--no-wait", "do not wait for that")
    .addOption(durationOption("--timeout <duration>", "how long to wait", "1m"));
}

async function changeMode(
  name: string,
  mode: Mode,
  { wait, timeout, ...place }: ModeOptions,
  { io, connect, finish }: CommandRuntime,
): Promise<void> {
  const { acknowledgedMode, modeAppliers, setMode } = await import("../cluster/clusterMode.ts");
  const { acknowledgedText, pendingText, SET_TEXTS } = await import("../plane/modeText.ts");
  const { registeredCluster } = await import("../plane/describe/printCluster.ts");
  const { systemClock: clock } = await import("@isthmus/plane/clock");
  const { namespace, requestTimeout = REQUEST_TIMEOUT_MS } = place;
  const say = (line: string): void => io.err(`${line}\n`);
  const all = { ...place, requestTimeout: requestTimeout + (wait ? timeout : 0) };
  const code = await inManagementCluster(all, connect, async (cluster, signal): Promise<ExitCode> => {
    const named = { cluster, name, namespace, mode };
    // Its error has the nearest name.
    const before = await registeredCluster(named, signal);
    await setMode(named, signal);
    const appliers = modeAppliers(before);
    if (appliers.length > 0) {
      const warning = `spec.mode of KubernetesCluster ${namespace}/${name} is also applied by ${appliers.join(", ")}, which may set it again: change it there, too`;
      say(`${io.colors.yellow("warning:")} ${warning}`);
    }
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
  meshctl cluster pause east --context mgmt --no-wait`;

const RESUME_HELP = `
Sets spec.mode of the KubernetesCluster to manage. Deletes on hold are planned again; many of them at once wait for approval.
${EXIT_CODES}

Examples:
  # What will be written
  meshctl cluster describe east
  meshctl cluster resume east`;
