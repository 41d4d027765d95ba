import { type Command, InvalidArgumentError, Option } from "commander";
import type { ReadAdminPage } from "../cluster/adminPort.ts";
import type { ConnectApiServer } from "../cluster/apiServer.ts";
import type { RunHelm } from "../cluster/charts/runHelm.ts";
import type { CatchInterrupts } from "../cluster/interruption.ts";
import { type Connect, REQUEST_TIMEOUT_MS } from "../cluster/managementCluster.ts";
import type { ExitCode, Io } from "../io.ts";
import { withUserDefaults } from "./userDefaults.ts";

/** What a command that reads clusters is given by the program. */
export interface CommandRuntime {
  readonly io: Io;
  readonly finish: (code: ExitCode) => void;
  readonly connect: Connect;
  readonly connectApiServer: ConnectApiServer;
  readonly readAdminPage: ReadAdminPage;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly catchInterrupts: CatchInterrupts;
  /** Renders charts with values of users; undefined: the Helm of the machine. */
  readonly runHelm?: RunHelm;
  /** Ends the program with 0, whatever it still waits for; none: nothing may be left open. */
  readonly leave?: () => void;
}

/** The options that say where the management cluster is, or another one, and how long it may take. */
export function inManagement(
  command: Command,
  { namespaceOption = true, of = MANAGEMENT_CLUSTER, plane = "the management plane", requestTimeout = true } = {},
): Command {
  command
    .option("--kubeconfig <file>", `kubeconfig of ${of}; default: KUBECONFIG, or the home directory`)
    .option("--context <name>", "context of the kubeconfig; default: its current one")
    // The spelling of the published meshctl.
    .addOption(new Option("--kubecontext <name>").hideHelp());
  // commander hands options over by their own names only.
  command.hook("preAction", (_, action) => {
    const { kubecontext, context } = action.opts<{ readonly kubecontext?: string; readonly context?: string }>();
    if (kubecontext !== undefined && context === undefined) action.setOptionValueWithSource("context", kubecontext, "cli");
  });
  if (of === MANAGEMENT_CLUSTER) {
    withUserDefaults(command, {
      kubeconfigs: ["kubeconfig"],
      context: "context",
      ...(namespaceOption ? { namespace: "namespace" } : {}),
    });
  }
  if (namespaceOption) command.option("-n, --namespace <name>", `namespace of ${plane}`, "gloo-mesh");
  if (requestTimeout) command.addOption(requestTimeoutOption());
  return command.allowExcessArguments(false);
}

const MANAGEMENT_CLUSTER = "the management cluster";

/** `--request-timeout`. */
function requestTimeoutOption(): Option {
  return new Option("--request-timeout <duration>", "how long all requests to the cluster may take together")
    .argParser(durationMs)
    .default(REQUEST_TIMEOUT_MS, "1m");
}

/** A duration such as `30m`, in milliseconds. */
export function durationMs(text: string): number {
  const match = /^(\d+)(s|m|h)$/.exec(text);
  if (match === null) throw new InvalidArgumentError(`${text} is not a duration such as 30m or 2h`);
  const unit = { s: 1_000, m: 60_000, h: 3_600_000 }[match[2] as "s" | "m" | "h"];
  return Number(match[1]) * unit;
}
