import { UsageError } from "@isthmus/core";

/** Where the input of a command is. */
export interface InputPlaces {
  /** What follows the options. */
  readonly files?: readonly string[];
  readonly file?: readonly string[];
  /** Files with the page /snapshots/input of a server. */
  readonly snapshot?: readonly string[];
}

/** What is read, in this order: of an object that is given twice the later counts, and what is in files is meant to come. */
export function inputFilesOf({ files = [], file = [], snapshot = [] }: InputPlaces): readonly string[] {
  const all = [...snapshot, ...file, ...files];
  if (all.length === 0) throw new UsageError("name files or directories with YAML or JSON, such as policies/, or - for standard input");
  return all;
}
