import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { messageOf, UsageError } from "@isthmus/core";
import type { Io } from "../io.ts";

/** One text of the input. */
export interface InputFile {
  /** As messages name it. */
  readonly name: string;
  readonly text: string;
}

/**
 * Reads what `-f` names: files as they are, folders with all below them (in name order, hidden entries left out, only
 * `.yaml`, `.yml` and `.json`), `-` for standard input. Throws UsageError for what can't be read.
 */
export async function readInputFiles(paths: readonly string[], io: Io): Promise<readonly InputFile[]> {
  if (paths.filter((path) => path === "-").length > 1) throw new UsageError("-f -: standard input can only be read once");
  const files: InputFile[] = [];
  for (const path of paths) {
    if (path === "-") files.push(await standardInput(io));
    else
      files.push(
        ...readable(path, () => filesBelow(path)).map((file) => ({
          name: file,
          text: readable(file, () => textOf(file, readFileSync(file))),
        })),
      );
  }
  return files;
}

async function standardInput(io: Io): Promise<InputFile> {
  const name = "standard input";
  return { name, text: textOf(name, await io.readInput()) };
}

const EXTENSIONS = new Set([".yaml", ".yml", ".json"]);

function filesBelow(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  const files = filesInFolder(path, new Set());
  if (files.length === 0) throw new UsageError(`${path}: no .yaml, .yml or .json file in this directory`);
  return files;
}

/** `ancestors` are the real paths of the folders above: a symbolic link back to one of them is not followed. */
function filesInFolder(folder: string, ancestors: ReadonlySet<string>): readonly string[] {
  const real = realpathSync(folder);
  if (ancestors.has(real)) return [];
  const names = readdirSync(folder).filter((name) => !name.startsWith("."));
  return names.sort().flatMap((name) => {
    const path = join(folder, name);
    return readable(path, () => {
      if (statSync(path).isDirectory()) return filesInFolder(path, new Set([...ancestors, real]));
      return EXTENSIONS.has(extname(name)) ? [path] : [];
    });
  });
}

/** The text of a file: UTF-8, or what its byte order mark says, as Windows' own shell writes UTF-16. */
function textOf(name: string, bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding = first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_ENCODING_INVALID_ENCODED_DATA") throw error;
    const [readable = ""] = new TextDecoder(encoding).decode(bytes).split("\ufffd");
    throw new UsageError(`${name}:${readable.split("\n").length}: is not UTF-8 text`);
  }
}

function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    const problem = code === undefined ? messageOf(error) : (PROBLEMS[code] ?? messageOf(error));
    throw new UsageError(`${path}: ${problem}`);
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
};
