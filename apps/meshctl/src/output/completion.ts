/** One command of a program, as a shell completes it. */
export interface CompletedCommand {
  /** Of the words from the program on: `meshctl cluster list`. */
  readonly path: string;
  /** Names that may follow: subcommands and options. */
  readonly words: readonly string[];
  /** Other spellings of the last word. */
  readonly aliases: readonly string[];
  /** The values of options that take one of a list: by each spelling of the option. */
  readonly choices: Readonly<Record<string, readonly string[]>>;
}

export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;
export type Shell = (typeof SHELLS)[number];

/** A script that teaches a shell the commands of a program; commands come with those above them first. */
export function completionScript(shell: Shell, program: string, commands: readonly CompletedCommand[]): string {
  switch (shell) {
    case "bash":
      return bashScript(program, commands);
    case "zsh":
      // zsh reads functions of bash, with one call more.
      return `#compdef ${program}\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(program, commands)}`;
    case "fish":
      return fishScript(program, commands);
    case "powershell":
      return powershellScript(program, commands);
  }
}

function bashScript(program: string, commands: readonly CompletedCommand[]): string {
  const steps = commands.flatMap(({ path, aliases }) => {
    const space = path.lastIndexOf(" ");
    if (space < 0) return [];
    const spellings = [path.slice(space + 1), ...aliases].map((word) => `"${path.slice(0, space)} ${word}"`);
    return [`      ${spellings.join("|")}) path="${path}" ;;`];
  });
  const values = commands.flatMap(({ path, choices }) =>
    Object.entries(choices).map(([option, words]) => `    "${path} ${option}") words="${words.join(" ")}" ;;`),
  );
  const next = commands.map(({ path, words }) => `      "${path}") words="${words.join(" ")}" ;;`);
  return `# Completion of ${program}.
_${program}() {
  local path="${program}" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path \${COMP_WORDS[i]}" in
${steps.join("\n")}
    esac
  done
  case "$path \${COMP_WORDS[COMP_CWORD - 1]}" in
${values.join("\n")}
    *)
      case "$path" in
${next.map((line) => `  ${line}`).join("\n")}
      esac
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${program} ${program}
`;
}

function fishScript(program: string, commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap((command) => {
    const below = command.path.split(" ").slice(1);
    const names = commands.flatMap(({ path, aliases }) => (isBelow(path, command.path) ? [lastWord(path), ...aliases] : []));
    const seen = below.map((word) => `__fish_seen_subcommand_from ${spellings(commands, command.path, word)}`);
    const open = names.length === 0 ? [] : [`not __fish_seen_subcommand_from ${names.join(" ")}`];
    const condition = [...seen, ...open].join("; and ");
    const when = condition === "" ? "" : ` -n '${condition}'`;
    return command.words.map((word) => {
      const values = command.choices[word];
      if (!word.startsWith("--"))
        return word.startsWith("-") ? `complete -c ${program}${when} -s ${word.slice(1)}` : `complete -c ${program} -f${when} -a ${word}`;
      return `complete -c ${program}${when} -l ${word.slice(2)}${values === undefined ? "" : ` -x -a '${values.join(" ")}'`}`;
    });
  });
  return `# Completion of ${program}.\n${lines.join("\n")}\n`;
}

// Source: learn.microsoft.com, Register-ArgumentCompleter -Native: its block is given the word, the command line and the cursor.
function powershellScript(program: string, commands: readonly CompletedCommand[]): string {
  const steps = commands.flatMap(({ path, aliases }) => {
    const space = path.lastIndexOf(" ");
    if (space < 0) return [];
    return [lastWord(path), ...aliases].map((word) => `    ${quoted(`${path.slice(0, space)} ${word}`)} = ${quoted(path)}`);
  });
  const values = commands.flatMap(({ path, choices }) =>
    Object.entries(choices).map(([option, words]) => `    ${quoted(`${path} ${option}`)} = ${list(words)}`),
  );
  const next = commands.map(({ path, words }) => `    ${quoted(path)} = ${list(words)}`);
  // Names of hashtables of PowerShell ignore case, those of commands and options do not.
  const table = (name: string, lines: readonly string[]): string =>
    `  $${name} = New-Object System.Collections.Hashtable ([StringComparer]::Ordinal)\n${lines.map((line) => `  $${name}[${line.trim().replace(" = ", "] = ")}\n`).join("")}`;
  return `# Completion of ${program}.
Register-ArgumentCompleter -Native -CommandName ${quoted(program)} -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
${table("steps", steps)}${table("values", values)}${table("words", next)}  $before = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  $path = ${quoted(program)}
  foreach ($word in $before) { if ($steps.ContainsKey("$path $word")) { $path = $steps["$path $word"] } }
  $last = if ($before.Count -gt 0) { $before[-1] } else { '' }
  $offered = if ($values.ContainsKey("$path $last")) { $values["$path $last"] } else { $words[$path] }
  $offered | Where-Object { $_ -clike "$wordToComplete*" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`;
}

function list(words: readonly string[]): string {
  return `@(${words.map(quoted).join(", ")})`;
}

/** A text of PowerShell in which nothing is replaced. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function isBelow(path: string, parent: string): boolean {
  return path.startsWith(`${parent} `) && !path.slice(parent.length + 1).includes(" ");
}

function lastWord(path: string): string {
  return path.slice(path.lastIndexOf(" ") + 1);
}

/** A word of a path, with its aliases. */
function spellings(commands: readonly CompletedCommand[], path: string, word: string): string {
  const found = commands.find(
    (command) => lastWord(command.path) === word && (path === command.path || path.startsWith(`${command.path} `)),
  );
  return [word, ...(found?.aliases ?? [])].join(" ");
}
