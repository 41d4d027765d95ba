import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join, posix } from "node:path";

/** The files of a checkout that git knows or would take, each with a hash of its content. */
export interface ProjectFiles {
  /** Hashes by path relative to the root. */
  readonly hashes: ReadonlyMap<string, string>;
  /** Whether a path is one of them or a folder of some. */
  has(path: string): boolean;
  /** The path itself if it is a file, else the files below the folder; sorted. */
  below(path: string): readonly string[];
  /** Whether all is as the last commit has it. */
  readonly isClean: boolean;
}

/** Reads them from git; what differs from its index is hashed here. */
export function readProjectFiles(root: string): ProjectFiles {
  const git = (...args: readonly string[]): readonly string[] =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 256 * 1024 * 1024 })
      .split("\0")
      .filter(Boolean);
  const hashes = new Map<string, string>();
  for (const line of git("ls-files", "-s", "-z")) {
    const [, mode = "", hash = "", path = ""] = /^(\d+) ([0-9a-f]+) \d\t(.*)$/s.exec(line) ?? [];
    hashes.set(path, `${mode} ${hash}`);
  }
  // Of a rename two paths are given: `-z` without renames gives one a line.
  const changed = git("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all").map((line) => line.slice(3));
  for (const path of changed) {
    const hash = hashOf(join(root, path));
    if (hash === undefined) hashes.delete(path);
    else hashes.set(path, hash);
  }
  return projectFiles(hashes, changed.length === 0);
}

/** Those of a list. */
export function projectFiles(hashes: ReadonlyMap<string, string>, isClean: boolean): ProjectFiles {
  const folders = new Map<string, string[]>();
  for (const path of [...hashes.keys()].sort()) {
    for (let folder = posix.dirname(path); folder !== "."; folder = posix.dirname(folder)) {
      const files = folders.get(folder);
      if (files === undefined) folders.set(folder, [path]);
      else files.push(path);
    }
  }
  return {
    hashes,
    has: (path) => hashes.has(path) || folders.has(path),
    below: (path) => (hashes.has(path) ? [path] : (folders.get(path) ?? [])),
    isClean,
  };
}

function hashOf(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const content = stats.isSymbolicLink() ? readlinkSync(path) : stats.isFile() ? readFileSync(path) : "";
  return `${stats.mode.toString(8)} ${createHash("sha256").update(content).digest("hex")}`;
}
