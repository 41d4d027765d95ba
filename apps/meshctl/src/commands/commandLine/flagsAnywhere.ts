import type { Command } from "commander";

/** Flags with a value that people write before the command, as they do for kubectl; and those without. */
const VALUED: ReadonlySet<string> = new Set([
  ...["--kubeconfig", "--context", "--kubecontext", "-n", "--namespace", "--request-timeout", "--log-format"],
]);
const PLAIN: ReadonlySet<string> = new Set(["-q", "--quiet", "--plain"]);

/** The same words, with those flags that stand before a command behind it. What stands behind it, or after `--`, stays where it is. */
export function withFlagsBehind(words: readonly string[], program: Command): readonly string[] {
  const before: string[] = [];
  const path: string[] = [];
  let command: Command | undefined = program;
  let i = 0;
  while (command !== undefined && i < words.length) {
    const word: string = words[i] ?? "";
    const [name = ""] = word.split("=", 1);
    if (PLAIN.has(word) || (VALUED.has(name) && name !== word)) before.push(word);
    else if (VALUED.has(word) && i + 1 < words.length) before.push(word, words[++i] ?? "");
    else {
      const next: Command | undefined = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
      if (next === undefined) break;
      path.push(word);
      command = next;
    }
    i++;
  }
  // Without a command they are nobody's: they are refused as they stand.
  return path.length === 0 ? words : [...path, ...before, ...words.slice(i)];
}
