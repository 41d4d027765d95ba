import type { Command } from "commander";
import { isActing } from "../src/commands/actingCommand.ts";
import { isForShells } from "../src/output/completion.ts";

/** The commands that do something, in the order of the help. */
export function commandsBelow(parent: Command, path: string): readonly { readonly path: string; readonly command: Command }[] {
  return parent.commands.flatMap((command) => {
    // What shells call is no command of users.
    if (isForShells(command.name())) return [];
    const own = `${path} ${command.name()}`;
    return [...(isActing(command) ? [{ path: own, command }] : []), ...commandsBelow(command, own)];
  });
}
