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
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError(`${text} is not a port number from 0 to 65535`);
  return port;
}

/** An option's value as a share in percent: a whole number from 0 to 100. */
export function percentageOption(text: string): number {
  const percent = Number(text);
  if (text.trim() === "" || !Number.isInteger(percent) || percent < 0 || percent > 100)
    throw new InvalidArgumentError(`${text} is not a percentage: use a whole number from 0 to 100`);
  return percent;
}

/** An option's value as a number of objects. */
export function objectCount(text: string): number {
  const count = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(count) || count < 0)
    throw new InvalidArgumentError(`${text} is not a number of objects: use a whole number, 0 or more`);
  return count;
}

/** An option's values as names of namespaces, `*` among them. Throws UsageError, naming the option. */
export function namespaceNames(option: string, names: readonly string[]): ReadonlySet<string> {
  // A list in one text is what people and charts write, too.
  const all = names.flatMap((text) => text.split(",")).map((name) => name.trim());
  const wrong = all.find((name) => name !== "*" && !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
  if (wrong !== undefined) throw new UsageError(`${option}: "${wrong}" is neither the name of a namespace nor *`);
  return new Set(all);
}

/** Whether an environment variable switches something on. One that says `false` doesn't, though it is there. */
export function isOn(value: string | undefined): boolean {
  return value?.toLowerCase() === "true" || value === "1";
}
