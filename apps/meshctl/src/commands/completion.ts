import { Argument, Command } from "commander";
import type { Io } from "../io.ts";
import { COMPLETE_COMMAND, type CompletedCommand, completionScript, isForShells, SHELLS, type Shell } from "../output/completion.ts";
import { offersAfter } from "../output/offers.ts";
import { PRINTED_KINDS } from "../plane/kinds.ts";
import type { CommandRuntime } from "./commandRuntime.ts";
import { namesFor } from "./names.ts";

/** `meshctl completion SHELL`: a script of all commands that stand beside it. */
export function completionCommand(io: Io): Command {
  const command = new Command("completion");
  return command
    .description("Print a script that completes commands, options and names of objects in a shell.")
    .addArgument(new Argument("<shell>", "bash, zsh, fish or powershell").choices(SHELLS))
    .allowExcessArguments(false)
    .addHelpText("after", HELP)
    .action(async (shell: Shell) => {
      const program = command.parent ?? command;
      await io.out(completionScript(shell, program.name(), await completedCommands(program)));
    });
}

/**
 * What `kubectl mesh WORDS…` is completed by: kubectl runs `kubectl_complete-mesh` with the words, the last one as far as it is typed. It prints
 * what may follow and, as kubectl reads it, whether files may. Source: kubectl, pkg/cmd/plugin/plugin_completion.go.
 */
export function completeCommand({ io, connect, leave }: CommandRuntime): Command {
  const command = new Command(COMPLETE_COMMAND);
  return command.argument("[words...]").action(async (words: readonly string[]) => {
    const [before, word] = [words.slice(0, -1), words.at(-1) ?? ""];
    const { words: offered, kind } = offersAfter(await completedCommands(command.parent ?? command), before);
    const isOption = word.startsWith("-");
    const names = kind === undefined || isOption ? [] : await namesFor(kind, before, connect);
    const fitting = [...offered, ...names].filter((offer) => offer.startsWith(word) && offer.startsWith("-") === isOption);
    await io.out([...fitting, `:${fitting.length === 0 ? FILES : NO_FILES}`, ""].join("\n"));
    leave?.();
  });
}

// Source: github.com/spf13/cobra, completions.go: ShellCompDirectiveDefault and ShellCompDirectiveNoFileComp.
const FILES = 0;
const NO_FILES = 4;

/** A program and all commands below it, the program first. */
async function completedCommands(program: Command): Promise<readonly CompletedCommand[]> {
  const { EXPLAINED_CODES } = await import("@isthmus/insights/catalogue");
  const values = new Map([[`${program.name()} insights explain`, EXPLAINED_CODES.map(({ code }) => code)]]);
  return completed(program, program.name(), values);
}

/** `values`: by path, what an argument can be that is not known before the command runs. */
function completed(command: Command, path: string, values: ReadonlyMap<string, readonly string[]>): readonly CompletedCommand[] {
  const options = command.createHelp().visibleOptions(command);
  const spellings = options.flatMap(({ short, long }) => [short, long].flatMap((name) => name ?? []));
  const choices = options.flatMap(({ short, long, argChoices }) =>
    argChoices === undefined ? [] : [short, long].flatMap((name) => (name === undefined ? [] : [[name, argChoices] as const])),
  );
  const words = [
    ...command.commands.map((below) => below.name()).filter((name) => !isForShells(name)),
    ...argumentChoices(command),
    ...(values.get(path) ?? []),
    ...spellings,
  ];
  const names = namesAfter(path.split(" ").slice(1), command);
  const own = {
    path,
    words,
    aliases: command.aliases(),
    choices: Object.fromEntries(choices),
    ...(names === undefined ? {} : { names }),
    optionNames: optionNames(command),
  };
  return [
    own,
    ...command.commands
      .filter((below) => !isForShells(below.name()))
      .flatMap((below) => completed(below, `${path} ${below.name()}`, values)),
  ];
}

/** What the arguments of a command name, as `meshctl get` calls it. */
function namesAfter([first = "", second = ""]: readonly string[], command: Command): string | undefined {
  const [argument] = command.registeredArguments;
  if (argument === undefined) return undefined;
  if (first === "get") return second;
  if (first === "describe") return PRINTED_KINDS.find(({ name, aliases }) => [name, ...aliases].includes(second))?.name;
  if (first === "cluster" && argument.name() === "name" && second !== "register") return "clusters";
  return first === "cluster" && second === "list" ? "clusters" : undefined;
}

/** Options that name a registered cluster. Without a management cluster on the line there is none to ask. */
function optionNames(command: Command): Readonly<Record<string, string>> {
  const isLive = command.options.some(({ long }) => long === "--kubeconfig");
  return isLive && command.options.some(({ long }) => long === "--cluster") ? { "--cluster": "clusters" } : {};
}

function argumentChoices(command: Command): readonly string[] {
  return command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
}

const HELP = `
Names of clusters, meshes, workloads, destinations and policies are read from the management cluster that the line, your configuration or the
kubeconfig names, for two seconds at most; where it does not answer, none are offered.

Tests run the scripts for bash, zsh and fish in these shells; that for PowerShell has not been run.

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
