import { UsageError } from "@isthmus/core";
import { type Command, Option } from "commander";

/** A flag of the published meshctl that has no meaning here, and what to do instead. */
export type RefusedFlag = readonly [flags: string, remedy: string];

/** Refuses flags of the published commands with what to do instead: passed over, they would seem to have been followed. */
export function withRefusedFlags(command: Command, refused: readonly RefusedFlag[]): Command {
  for (const [flags] of refused) command.addOption(new Option(flags).hideHelp());
  return command.hook("preAction", (_, action) => {
    for (const [flags, remedy] of refused) {
      const option = new Option(flags);
      if (action.getOptionValue(option.attributeName()) !== undefined) throw new UsageError(`${option.long}: is not supported; ${remedy}`);
    }
  });
}
