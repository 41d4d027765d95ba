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
  /** What its arguments name, as `NAMES_COMMAND` calls it. */
  readonly names?: string;
  /** The same of options: by each spelling of the option. */
  readonly optionNames: Readonly<Record<string, string>>;
}

/** The command that prints names for a shell: `meshctl __names KIND WORDS…`. It is silent where there are none. */
export const NAMES_COMMAND = "__names";

/** The command that kubectl runs, under the name of its plugin: `meshctl __complete -- WORDS… WORD`. */
export const COMPLETE_COMMAND = "__complete";

/** Whether a command is called by shells, and by nobody who types. */
export function isForShells(name: string): boolean {
  return name === NAMES_COMMAND || name === COMPLETE_COMMAND;
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
    return [`      ${spellings.join("|")}) at="${path}" ;;`];
  });
  const values = commands.flatMap(({ path, choices, optionNames }) => [
    ...Object.entries(choices).map(([option, words]) => `    "${path} ${option}") offer="${words.join(" ")}" ;;`),
    ...Object.entries(optionNames).map(([option, kind]) => `    "${path} ${option}") kind="${kind}" ;;`),
  ]);
  const next = commands.map(
    ({ path, words, names }) => `      "${path}") offer="${words.join(" ")}"${names === undefined ? "" : ` kind="${names}"`} ;;`,
  );
  // zsh has variables of its own called path, which is PATH, and words, and takes a name after a colon for a modifier. Names are only compared, never expanded, and only letters, digits and
  // -./ of them are taken, whatever printed them.
  return `# Completion of ${program}.
_${program}() {
  local at="${program}" offer="" kind="" word="\${COMP_WORDS[COMP_CWORD]}" name i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
${steps.join("\n")}
    esac
  done
  case "$at \${COMP_WORDS[COMP_CWORD - 1]}" in
${values.join("\n")}
    *)
      case "$at" in
${next.map((line) => `  ${line}`).join("\n")}
      esac
      ;;
  esac
  COMPREPLY=($(compgen -W "$offer" -- "$word"))
  case "$word" in -*) kind="" ;; esac
  if [ -n "$kind" ]; then
    while IFS= read -r name; do
      case "$name" in "" | -* | *[!abcdefghijklmnopqrstuvwxyz0123456789./-]*) continue ;; esac
      case "$name" in "$word"*) COMPREPLY+=("$name") ;; esac
    done < <("\${COMP_WORDS[0]}" ${NAMES_COMMAND} "$kind" "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}" 2>/dev/null </dev/null)
  fi
}
complete -o default -F _${program} ${program}
`;
}

// Source: fishshell.com/docs/current, complete, commandline and switch.
function fishScript(program: string, commands: readonly CompletedCommand[]): string {
  const steps = commands.flatMap(({ path, aliases }) => {
    const space = path.lastIndexOf(" ");
    if (space < 0) return [];
    const spellings = [lastWord(path), ...aliases].map((word) => `'${path.slice(0, space)} ${word}'`);
    return [`      case ${spellings.join(" ")}\n        set at '${path}'`];
  });
  const values = commands.flatMap(({ path, choices, optionNames }) => [
    ...Object.entries(choices).map(([option, words]) => `    case '${path} ${option}'\n      set offer ${words.join(" ")}`),
    ...Object.entries(optionNames).map(([option, kind]) => `    case '${path} ${option}'\n      set kind ${kind}`),
  ]);
  const next = commands.map(
    ({ path, words, names }) =>
      `        case '${path}'\n          set offer ${words.join(" ")}${names === undefined ? "" : `\n          set kind ${names}`}`,
  );
  // Where nothing is offered, fish offers files by itself.
  return `# Completion of ${program}.
function __${program}_offers
  set -l words (commandline -opc)
  set -l word (commandline -ct)
  set -l at ${program}
  set -l offer
  set -l kind
  for each in $words[2..-1]
    switch "$at $each"
${steps.join("\n")}
    end
  end
  set -l last $words[-1]
  set -l prefix (string match -r -- '^--[a-z-]+=' $word)
  if test -n "$prefix"
    set last (string replace -r -- '=$' '' $prefix)
  end
  switch "$at $last"
${values.join("\n")}
    case '*'
      switch $at
${next.join("\n")}
      end
  end
  if set -q kind[1]; and begin
      set -q prefix[1]; or not string match -q -- '-*' $word
    end
    set offer $offer (command ${program} ${NAMES_COMMAND} "$kind" $words[2..-1] 2>/dev/null </dev/null | string match -r '^[a-z0-9][a-z0-9./-]*$')
  end
  set -g __${program}_offered
  if test -n "$prefix"
    set -g __${program}_offered $prefix(string match -v -- '-*' $offer)
  else if string match -q -- '-*' $word
    set -g __${program}_offered (string match -- '-*' $offer)
  else
    set -g __${program}_offered (string match -v -- '-*' $offer)
  end
  set -q __${program}_offered[1]
end
complete -c ${program} -f -n __${program}_offers -a '$__${program}_offered'
`;
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
  const kinds = commands.flatMap(({ path, names, optionNames }) => [
    ...(names === undefined ? [] : [`    ${quoted(path)} = ${quoted(names)}`]),
    ...Object.entries(optionNames).map(([option, kind]) => `    ${quoted(`${path} ${option}`)} = ${quoted(kind)}`),
  ]);
  // Names of hashtables of PowerShell ignore case, those of commands and options do not.
  const table = (name: string, lines: readonly string[]): string =>
    `  $${name} = New-Object System.Collections.Hashtable ([StringComparer]::Ordinal)\n${lines.map((line) => `  $${name}[${line.trim().replace(" = ", "] = ")}\n`).join("")}`;
  return `# Completion of ${program}.
Register-ArgumentCompleter -Native -CommandName ${quoted(program)} -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
${table("steps", steps)}${table("values", values)}${table("words", next)}${table("kinds", kinds)}  $before = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  $path = ${quoted(program)}
  foreach ($word in $before) { if ($steps.ContainsKey("$path $word")) { $path = $steps["$path $word"] } }
  $last = if ($before.Count -gt 0) { $before[-1] } else { '' }
  $offered = if ($values.ContainsKey("$path $last")) { $values["$path $last"] } else { $words[$path] }
  $kind = if ($kinds.ContainsKey("$path $last")) { $kinds["$path $last"] } elseif (-not $values.ContainsKey("$path $last")) { $kinds[$path] }
  if ($kind -and -not $wordToComplete.StartsWith('-')) {
    $known = try { @($null | & ${quoted(program)} ${NAMES_COMMAND} $kind @before 2>$null) -cmatch '^[a-z0-9][a-z0-9./-]*$' } catch { @() }
    $offered = if ($kinds.ContainsKey("$path $last")) { $known } else { @($offered) + @($known) }
  }
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

function lastWord(path: string): string {
  return path.slice(path.lastIndexOf(" ") + 1);
}
