import { UsageError } from "@isthmus/core";
import type { Random } from "../faults/random.ts";

/** An entry point that inputs are given to. Inputs are bytes, so that any of them can be kept in a file. */
export interface Target {
  readonly name: string;
  /** What an input is, and whom it is given to. */
  readonly about: string;
  /** The same bytes for the same numbers. */
  draw(random: Random): Buffer;
  /** Makes the entryPoint. Rejects with `Skipped` where it cannot be had on this machine. */
  start(): Promise<EntryPoint>;
}

/** The one of them with a name. Throws a `UsageError` that lists all, where there is none. */
export function targetNamed(targets: readonly Target[], name: string): Target {
  const target = targets.find((one) => one.name === name);
  if (target === undefined) throw new UsageError(`there is no target ${name}; there are ${targets.map((one) => one.name).join(", ")}`);
  return target;
}

/** An entry point as it stands in one process. */
export interface EntryPoint {
  /** Throws, or rejects, when the input did what no input may do. What the entry point says of a bad input is no failure. */
  take(input: Buffer): void | Promise<void>;
  stop(): Promise<void>;
}

/** An entry point cannot be had here, for instance as a program is not installed. */
export class Skipped extends Error {
  override readonly name = "Skipped";
}

/** What others have, or get, is not what it was before the input. */
export class OthersHarmed extends Error {
  override readonly name = "OthersHarmed";
}

/**
 * How much processor time, in ms, an input of so many bytes may take. Generous: 500 ms for the smallest, and 10 ms for each kilobyte,
 * where reading JSON takes a hundredth of a millisecond and reading YAML one.
 */
export function patienceMs(bytes: number): number {
  return 500 + (bytes / 1024) * 10;
}
