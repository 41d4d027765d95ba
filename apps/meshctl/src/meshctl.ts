import { UsageError } from "@isthmus/core";
import { Command, CommanderError } from "commander";
import { version } from "../package.json";
import { translateCommand } from "./commands/translate.ts";
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
    .description("Manages many service meshes as one, from the command line.")
    .version(version, "-V, --version", "print the version and nothing else")
    .exitOverride()
    .configureOutput({ writeOut: (text) => void io.out(text), writeErr: io.err })
    .showHelpAfterError("Run meshctl --help, or meshctl COMMAND --help, for what can be said.")
    .showSuggestionAfterError()
    .addHelpText("after", EXAMPLES);
  for (const command of [translateCommand(io, finish), versionCommand(io)]) program.addCommand(command.copyInheritedSettings(program));
  return program;
}

const EXAMPLES = `
Examples:
  # What would these policies become in each cluster?
  meshctl translate -f cluster-dump.yaml -f policies/

  # Are they accepted? Exit code 1 when one is not.
  meshctl translate -f cluster-dump.yaml -f policies/ --status > /dev/null

Exit codes: 0 clean, 1 something was rejected, 2 wrong usage or unreadable input.`;
