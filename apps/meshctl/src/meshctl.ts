import { UsageError } from "@isthmus/core";
import { Command, CommanderError } from "commander";
import { version } from "../package.json";
import { clusterCommand } from "./commands/cluster.ts";
import { translateCommand } from "./commands/translate.ts";
import { validateCommand } from "./commands/validate.ts";
import { versionCommand } from "./commands/version.ts";
import type { ExitCode, Io } from "./io.ts";

/** Runs one command line, without the program's own name, and gives its exit code. A user's mistake never shows a stack trace. */
export async function meshctl(args: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const finish = (code: ExitCode): void => {
    exitCode = code;
  };
  try {
    await programOf(io, finish).parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    // commander has printed its own; help and version end this way too, with 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof UsageError) io.err(`${io.colors.red("error:")} ${error.message}\n`);
    else io.err(`${io.colors.red("internal error:")} ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return 2;
  }
}

function programOf(io: Io, finish: (code: ExitCode) => void): Command {
  const program = new Command("meshctl")
    .description("Manage service meshes of many clusters from the command line.")
    .version(version, "-V, --version", "print the version")
    .exitOverride()
    .configureOutput({ writeOut: (text) => void io.out(text), writeErr: io.err })
    .showHelpAfterError("See 'meshctl --help' or 'meshctl COMMAND --help'.")
    .showSuggestionAfterError()
    .addHelpText("after", EXAMPLES);
  const commands = [translateCommand(io, finish), validateCommand(io, finish), clusterCommand(io), versionCommand(io)];
  for (const command of commands) program.addCommand(inheriting(command, program));
  return program;
}

/** Gives a command and all commands below it the settings of the one above: how it ends, and where it writes. */
export function inheriting(command: Command, from: Command): Command {
  command.copyInheritedSettings(from);
  for (const below of command.commands) inheriting(below, command);
  return command;
}

const EXAMPLES = `
Examples:
  # Print the objects that these policies generate in each cluster
  meshctl translate -f cluster-dump.yaml -f policies/

  # Validate them; exits with code 1 if one is rejected
  meshctl validate -f cluster-dump.yaml -f policies/

  # Create a token with which cluster east can join within the next hour
  meshctl cluster token create --cluster east

Exit codes: 0 success, 1 at least one object was rejected, 2 usage error or unreadable input.`;
