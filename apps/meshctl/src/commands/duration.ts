import { InvalidArgumentError, Option } from "commander";

/** An option that takes a duration such as 30m, and gives milliseconds. */
export function durationOption(flags: string, description: string, preset: string): Option {
  return new Option(flags, description).argParser(durationMs).default(durationMs(preset), preset);
}

function durationMs(text: string): number {
  const match = /^(\d{1,9})(s|m|h)$/.exec(text);
  if (match === null) throw new InvalidArgumentError(`${text} is not a duration such as 30m or 2h`);
  const unit = { s: 1_000, m: 60_000, h: 3_600_000 }[match[2] as "s" | "m" | "h"];
  return Number(match[1]) * unit;
}
