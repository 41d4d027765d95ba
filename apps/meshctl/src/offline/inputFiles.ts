import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { fileProblem, UsageError } from "@isthmus/core";
import type { Io } from "../io.ts";

/** One text of the input. */
export interface InputFile {
  /** As messages name it. */
  readonly name: string;
  readonly text: string;
  /** Whether the user named it, and not a folder above it: then something is expected in it. */
  readonly isNamed: boolean;
}

/**
 * Reads what `-f` names: files as they are, folders with all below them (in name order, hidden entries left out, only
 * `.yaml`, `.yml` and `.json`), `-` for standard input. Throws UsageError for what can't be read.
 */
export async function readInputFiles(paths: readonly string[], io: Io): Promise<readonly InputFile[]> {
  if (paths.filter((path) => path === "-").length > 1) throw new UsageError("-f -: standard input can only be read once");
  if (paths.includes("")) throw new UsageError("-f: must not be empty: name a file or a directory, or - for standard input");
  const files: InputFile[] = [];
  const read = new Set<string>();
  for (const path of paths) {
    if (path === "-") files.push(await standardInput(io));
    else
      for (const file of readable(path, () => filesBelow(path))) files.push(...readable(file, () => readOnce(file, read, file === path)));
  }
  return files;
}

/** A file that is named twice, perhaps by its directory, is read once: its objects are no others the second time. */
function readOnce(file: string, read: Set<string>, isNamed: boolean): readonly InputFile[] {
  const path = resolve(file);
  if (read.has(path)) return [];
  read.add(path);
  return [{ name: file, text: textOf(file, readFileSync(file)), isNamed }];
}

async function standardInput(io: Io): Promise<InputFile> {
  const name = "standard input";
  return { name, text: textOf(name, await io.readInput()), isNamed: true };
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
    throw new UsageError(`${shown(path)}: ${fileProblem(error)}${remedyFor(path, error)}`);
  }
}

/** A path as messages name it. */
function shown(path: string): string {
  return path.length > 256 ? `${path.slice(0, 253)}...` : path;
}

/** What to do about a path that names no file, where it tells what was meant. */
function remedyFor(path: string, error: unknown): string {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") return "";
  if (/^https?:/.test(path)) return `: URLs are not read: curl -sSfL ${path} | meshctl validate -f -`;
  return /[*?[{]/.test(path) ? ": patterns are for the shell to expand: remove the quotes, or name the directory" : "";
}
