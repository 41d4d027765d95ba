import { InvalidArgumentError } from "commander";

/** A port of this machine, or 0 for any free one. Throws InvalidArgumentError for another text. */
export function localPort(text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isInteger(number) || number < 0 || number > 65_535)
    throw new InvalidArgumentError(`${text} is not a port number from 0 to 65535`);
  return number;
}
