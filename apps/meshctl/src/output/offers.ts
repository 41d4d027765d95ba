import type { CompletedCommand } from "./completion.ts";

/** What may follow the words of a line, as the scripts for shells find it. */
export interface Offers {
  readonly words: readonly string[];
  /** What else is named there, as `NAMES_COMMAND` calls it. */
  readonly kind: string | undefined;
}

/** `before`: the words behind the program's name that are complete. Commands come with those above them first. */
export function offersAfter(commands: readonly CompletedCommand[], before: readonly string[]): Offers {
  const steps = new Map(
    commands.flatMap(({ path, aliases }) => {
      const space = path.lastIndexOf(" ");
      return [path.slice(space + 1), ...aliases].map((word) => [`${path.slice(0, Math.max(space, 0))} ${word}`, path] as const);
    }),
  );
  const start = commands[0]?.path ?? "";
  const at = before.reduce((path, word) => steps.get(`${path} ${word}`) ?? path, start);
  const command = commands.find(({ path }) => path === at);
  if (command === undefined) return { words: [], kind: undefined };
  const last = before.at(-1) ?? "";
  const choices = new Map(Object.entries(command.choices)).get(last);
  const optionKind = new Map(Object.entries(command.optionNames)).get(last);
  if (choices !== undefined || optionKind !== undefined) return { words: choices ?? [], kind: optionKind };
  return { words: command.words, kind: command.names };
}
