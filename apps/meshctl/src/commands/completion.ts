import { Argument, Command } from "commander";
import type { Io } from "../io.ts";
import { type CompletedCommand, completionScript, SHELLS, type Shell } from "../output/completion.ts";

/** `meshctl completion SHELL`: a script of all commands that stand beside it. */
export function completionCommand(io: Io): Command {
  const command = new Command("completion");
  return command
    .description("Print a script that completes commands and options in a shell.")
    .addArgument(new Argument("<shell>", "bash, zsh, fish or powershell").choices(SHELLS))
    .allowExcessArguments(false)
    .addHelpText("after", HELP)
    .action(async (shell: Shell) => {
      const program = command.parent ?? command;
      const { EXPLAINED_CODES } = await import("@isthmus/insights/catalogue");
      const values = new Map([[`${program.name()} insights explain`, EXPLAINED_CODES.map(({ code }) => code)]]);
      await io.out(completionScript(shell, program.name(), completed(program, program.name(), values)));
    });
}

/** `values`: by path, what an argument can be that is not known before the command runs. */
function completed(command: Command, path: string, values: ReadonlyMap<string, readonly string[]>): readonly CompletedCommand[] {
  const options = command.createHelp().visibleOptions(command);
  const spellings = options.flatMap(({ short, long }) => [short, long].flatMap((name) => name ?? []));
  const choices = options.flatMap(({ short, long, argChoices }) =>
    argChoices === undefined ? [] : [short, long].flatMap((name) => (name === undefined ? [] : [[name, argChoices] as const])),
  );
  const words = [...command.commands.map((below) => below.name()), ...argumentChoices(command), ...(values.get(path) ?? []), ...spellings];
  const own = { path, words, aliases: command.aliases(), choices: Object.fromEntries(choices) };
  return [own, ...command.commands.flatMap((below) => completed(below, `${path} ${below.name()}`, values))];
}

function argumentChoices(command: Command): readonly string[] {
  return command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
}

const HELP = `
Exit codes: 0 printed, 2 usage error.

Examples:
  # bash, in ~/.bashrc
  source <(meshctl completion bash)

  # zsh, in ~/.zshrc after compinit
  source <(meshctl completion zsh)

  # fish
  meshctl completion fish > ~/.config/fish/completions/meshctl.fish

  # PowerShell, in $PROFILE
  meshctl completion powershell | Out-String | Invoke-Expression`;
