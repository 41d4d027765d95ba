import childProcess from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** What this process reads of the project from now on. */
export interface RecordedReads {
  /** Paths below the root that were read, or given to a program, since the last call; sorted, without those of installed packages. */
  take(): readonly string[];
}

type Anything = (this: unknown, ...given: unknown[]) => unknown;

const READING = ["copyFile", "cp", "createReadStream", "link", "open", "opendir", "readFile", "readdir", "symlink"] as const;
const STARTING = ["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"] as const;
const KEY = Symbol.for("isthmus.recordedReads");

/**
 * Has the functions of Node that read files and start programs note the paths that they are given. Once a process: each call gives the same record.
 * What a program reads that was started is not seen: it counts by what it was given.
 */
export function recordReads(root: string): RecordedReads {
  const known = (globalThis as { [KEY]?: RecordedReads })[KEY];
  if (known !== undefined) return known;
  let paths = new Set<string>();

  function note(given: unknown): void {
    const text = given instanceof URL && given.protocol === "file:" ? fileURLToPath(given) : String(given);
    const inside = relative(root, resolve(text));
    if (inside !== "" && !inside.startsWith("..") && !/^(?:\.git|node_modules)(?:\/|$)|\/node_modules\//.test(inside)) {
      paths.add(inside.split(sep).join("/"));
    }
  }

  /** Of a command line each word that has a path below the root, or is one below the working folder that is given. */
  function noteCommand([command, ...rest]: readonly unknown[]): void {
    const [words, options] = Array.isArray(rest[0]) ? [rest[0] as readonly unknown[], rest[1]] : [[], rest[0]];
    const cwd = (options as { cwd?: unknown } | undefined)?.cwd;
    const folder = typeof cwd === "string" ? cwd : cwd instanceof URL ? fileURLToPath(cwd) : process.cwd();
    for (const word of [command, ...words].flatMap((one) => String(one).split(/[\s=:,'"]+/))) {
      if (word.includes(root)) note(word.slice(word.indexOf(root)));
      else if (/^[\w.-]+\/[\w./-]+$/.test(word) && fs.existsSync(resolve(folder, word))) note(resolve(folder, word));
    }
  }

  wrapAll(fs, [...READING, ...READING.map((name) => `${name}Sync`)], ([path]) => note(path));
  wrapAll(fs.promises, READING, ([path]) => note(path));
  wrapAll(childProcess, STARTING, noteCommand);
  syncBuiltinESMExports();

  const record: RecordedReads = {
    take() {
      const taken = [...paths].sort();
      paths = new Set();
      return taken;
    },
  };
  (globalThis as { [KEY]?: RecordedReads })[KEY] = record;
  return record;
}

function wrapAll(holder: object, names: readonly string[], before: (given: readonly unknown[]) => void): void {
  const members = holder as Record<string, Anything | undefined>;
  for (const name of names) {
    const original = members[name];
    if (original !== undefined) members[name] = wrapped(original, before);
  }
}

/** With all that hangs on it: what `promisify` takes in its place is another function, and is wrapped as well. */
function wrapped(original: Anything, before: (given: readonly unknown[]) => void): Anything {
  const members: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(original);
  const promised: unknown = members[promisify.custom]?.value;
  if (typeof promised === "function") members[promisify.custom] = { value: calledAfter(before, promised as Anything) };
  return Object.defineProperties(calledAfter(before, original), members);
}

function calledAfter(before: (given: readonly unknown[]) => void, original: Anything): Anything {
  return function (...given) {
    before(given);
    return original.apply(this, given);
  };
}
