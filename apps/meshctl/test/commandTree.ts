import type { Command } from "commander";

/** The commands that do something, in the order of the help. */
export function commandsBelow(parent: Command, path: string): readonly { readonly path: string; readonly command: Command }[] {
  return parent.commands.flatMap((command) => {
    const own = `${path} ${command.name()}`;
    return command.commands.length > 0 ? commandsBelow(command, own) : [{ path: own, command }];
  });
}
