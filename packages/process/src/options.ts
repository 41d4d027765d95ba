import { UsageError } from "@isthmus/core";
import { type Command, InvalidArgumentError } from "commander";

/**
 * Parses a command line (without node and script) into the options that the command declares, `O`. Throws CommanderError, or
 * UsageError for arguments that nobody asked for.
 */
export function parsedOptions<O extends object>(command: Command, argv: readonly string[]): O {
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  command.parse(argv, { from: "user" });
  if (command.args.length > 0) throw new UsageError(`unknown argument ${command.args[0]}: see --help`);
  return command.opts<O>();
}

/** An option's value as a port: 0, which takes any that is free, to 65535. */
export function portNumber(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError(`${text} is not a port: a number from 0 to 65535`);
  return port;
}

/** Whether an environment variable switches something on. One that says `false` doesn't, though it is there. */
export function isOn(value: string | undefined): boolean {
  return value?.toLowerCase() === "true" || value === "1";
}
