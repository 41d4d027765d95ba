import { UsageError } from "@isthmus/core";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { version } from "../package.json";
import { readAdminPage } from "./cluster/adminPort.ts";
import { apiServerOfKubeconfig } from "./cluster/apiServer.ts";
import { Interrupted } from "./cluster/interruption.ts";
import { connectWithKubeconfig } from "./cluster/managementCluster.ts";
import { WaitTimeout } from "./cluster/waitTimeout.ts";
import { isActing } from "./commands/actingCommand.ts";
import { certCommand } from "./commands/cert.ts";
import { checkCommand, precheckCommand } from "./commands/check.ts";
import { clusterCommand } from "./commands/cluster/cluster.ts";
import { confirmRemovedCommand } from "./commands/cluster/clusterConfirmRemoved.ts";
import { clusterModeCommands } from "./commands/cluster/clusterMode.ts";
import { connectRemote } from "./commands/cluster/clusterRegistration.ts";
import { clusterStateCommands } from "./commands/cluster/clusterState.ts";
import { trustDomainCommand } from "./commands/cluster/clusterTrustDomain.ts";
import type { ConnectRemote } from "./commands/cluster/registrationOptions.ts";
import { asCalled } from "./commands/commandLine/calledAs.ts";
import { errorText } from "./commands/commandLine/errorText.ts";
import { withFlagsBehind } from "./commands/commandLine/flagsAnywhere.ts";
import { adjustableIo, earlyLoudness, LOG_FORMATS, type Loudness, VERBOSITIES, type Verbosity } from "./commands/commandLine/loudness.ts";
import { withOtherWords } from "./commands/commandLine/otherWords.ts";
import type { CommandRuntime } from "./commands/commandRuntime.ts";
import { completeCommand, completionCommand } from "./commands/completion.ts";
import { configCommand } from "./commands/config.ts";
import { dashboardCommand } from "./commands/dashboard.ts";
import { describeCommand } from "./commands/describe.ts";
import { withPlainDryRun } from "./commands/dryRun.ts";
import { explainCommand } from "./commands/explain.ts";
import { getCommand } from "./commands/get.ts";
import { insightsCommand } from "./commands/insights.ts";
import { installCommand } from "./commands/install.ts";
import { logsCommand } from "./commands/logs.ts";
import { namesCommand } from "./commands/names.ts";
import { snapshotCommand } from "./commands/snapshot.ts";
import { syncCommand } from "./commands/sync.ts";
import { topCommand } from "./commands/top.ts";
import { translateCommand } from "./commands/translate.ts";
import { uninstallCommand } from "./commands/uninstall.ts";
import { validateCommand } from "./commands/validate.ts";
import { verboseConnections } from "./commands/verboseConnections.ts";
import { versionCommand } from "./commands/version.ts";
import { waitCommand } from "./commands/wait.ts";
import { whatIfCommand } from "./commands/whatIf.ts";
import type { ExitCode, Io } from "./io.ts";

/** What a command line reaches beside its streams; a test gives its own. */
export interface Outside extends Omit<CommandRuntime, "io" | "finish"> {
  /** How the program was called: `meshctl`, or `kubectl mesh`. */
  readonly call: string;
}

const OUTSIDE: Outside = {
  connect: connectWithKubeconfig,
  connectApiServer: apiServerOfKubeconfig,
  readAdminPage,
  now: Date.now,
  call: "meshctl",
  catchInterrupts: () => new AbortController().signal,
};

/** Runs one command line, without the program's own name, and gives its exit code. A user's mistake never shows a stack trace. */
export async function meshctl(args: readonly string[], streams: Io, outside: Partial<Outside> = {}): Promise<ExitCode> {
  const { now, call, ...places } = { ...OUTSIDE, ...outside };
  const io = adjustableIo(streams, now);
  io.adjust(earlyLoudness(args));
  const begun = now();
  let exitCode: ExitCode = 0;
  const ended = (code: ExitCode): ExitCode => {
    io.detail(1, `ended with exit code ${code} after ${now() - begun} ms`);
    return code;
  };
  const finish = (code: ExitCode): void => {
    exitCode = code;
  };
  try {
    const { connectRemote: toRemote, ...connections } = verboseConnections({ ...places, connectRemote, now }, io);
    const program = programOf({ io, finish, ...places, ...connections }, { toRemote, call });
    program.hook("preAction", (_, command) => io.adjust(command.opts<Loudness>()));
    await program.parseAsync(withPlainDryRun(withFlagsBehind(args, program)), { from: "user" });
    return ended(exitCode);
  } catch (error) {
    // commander has printed its own; help and version end this way too, with 0.
    if (error instanceof CommanderError) return ended(error.exitCode === 0 ? 0 : 2);
    if (error instanceof UsageError) io.err(`${io.colors.red("error:")} ${errorText(error)}\n`);
    else io.err(`${io.colors.red("internal error:")} ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    if (error instanceof Interrupted) return ended(130);
    return ended(error instanceof WaitTimeout ? 124 : 2);
  }
}

function programOf(runtime: CommandRuntime, { toRemote, call }: { readonly toRemote: ConnectRemote; readonly call: string }): Command {
  const { io, finish } = runtime;
  const program = new Command("meshctl")
    .description("Manage service meshes of many clusters from the command line.")
    .version(version, "-V, --version", "print the version")
    // Of a command, --version is its own: `install --version 1.2` must not print ours and end well.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.out(asCalled(text, call, program)),
      writeErr: (text) => io.err(asCalled(text, call, program)),
      outputError: (text, write) => write(withOtherWords(text)),
    })
    .showHelpAfterError("See 'meshctl --help' or 'meshctl COMMAND --help'.")
    .showSuggestionAfterError()
    .addHelpText("after", EXAMPLES);
  const commands = [
    translateCommand(io, finish),
    validateCommand(runtime),
    insightsCommand(runtime),
    whatIfCommand(runtime),
    snapshotCommand(runtime),
    checkCommand(runtime),
    precheckCommand(runtime),
    getCommand(runtime),
    describeCommand(runtime),
    waitCommand(runtime),
    syncCommand(runtime),
    explainCommand(runtime),
    installCommand(runtime),
    uninstallCommand(runtime),
    clusterGroup(runtime, toRemote),
    certCommand(runtime),
    dashboardCommand(runtime),
    logsCommand(runtime),
    topCommand(runtime),
    configCommand(runtime),
    versionCommand(runtime),
    completionCommand(io),
  ];
  for (const command of [namesCommand(runtime), completeCommand(runtime)])
    program.addCommand(inheriting(command, program), { hidden: true });
  for (const command of commands) program.addCommand(inheriting(command, program));
  return program;
}

/** `meshctl cluster`: who may join, how those that have joined are, and whether anything is written in them. */
function clusterGroup(runtime: CommandRuntime, toRemote: ConnectRemote): Command {
  const group = clusterCommand(runtime.io, runtime.connect, toRemote, runtime);
  for (const command of [
    ...clusterStateCommands(runtime),
    ...clusterModeCommands(runtime),
    trustDomainCommand(runtime),
    confirmRemovedCommand(runtime),
  ])
    group.addCommand(command);
  return group;
}

/** All commands as help texts show them, for the reference page. */
export function documentedProgram(io: Io): Command {
  return programOf({ io, finish: () => undefined, ...OUTSIDE }, { toRemote: connectRemote, call: OUTSIDE.call });
}

/** Gives a command and all commands below it the settings of the one above: how it ends, and where it writes. */
export function inheriting(command: Command, from: Command): Command {
  command.copyInheritedSettings(from);
  for (const below of command.commands) inheriting(below, command);
  if (isActing(command)) {
    command
      .option("--plain", "neither colors nor a progress line")
      .option("-q, --quiet", "only data, errors, warnings and findings")
      .addOption(verboseOption())
      .addOption(new Option("--log-format <format>", "of standard error: text (default), or a JSON object a line").choices(LOG_FORMATS));
  }
  return command;
}

/** `-v`, `-v 2`, `-v=2`. */
function verboseOption(): Option {
  return new Option("-v, --verbose [level]", "say which clusters are asked; with 2 also each request")
    .preset("1")
    .conflicts("quiet")
    .argParser((text: string): Verbosity => {
      const level = VERBOSITIES.find((each) => [`${each}`, `=${each}`].includes(text));
      if (level === undefined) throw new InvalidArgumentError(`A level is 0, 1 or 2; before a name write -v 1.`);
      return level;
    });
}

const EXAMPLES = `
Examples:
  # Print the objects that these policies generate in each cluster
  meshctl translate cluster-dump.yaml policies/

  # Validate them; exits with code 1 if one is rejected, or has a field that is not known
  meshctl validate cluster-dump.yaml policies/

  # What was discovered, and whether all is well
  meshctl get destinations
  meshctl check

  # Create a token with which cluster east can join within the next hour
  meshctl cluster token create --cluster east

Exit codes: 0 success, 1 at least one object was rejected or a check failed, 2 usage error, unreadable input or no answer, 3 not all that
was asked for could be read or done, 124 it was not done in the time that --timeout gives, 130 interrupted.`;
