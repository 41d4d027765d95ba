import type { Command } from "commander";

/** Whether a command does something itself. One that holds others does so only if it has options of its own. */
export function isActing({ commands, options }: Command): boolean {
  return commands.length === 0 || options.length > 0;
}
