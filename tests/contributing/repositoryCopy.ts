import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Edit, editedText } from "./edit.ts";

/** The root folder of the repository. */
export const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** A copy of the repository in a temporary folder, in which its tools and tests can be run. */
export interface RepositoryCopy {
  /** Applies the edits of a recipe in order. Throws as `editedText` does. */
  apply(recipe: string, edits: readonly Edit[]): void;
  read(path: string): string;
  /** The files that differ from the repository, sorted: new, changed or deleted. */
  touched(): readonly string[];
  /** Runs a program in the copy; its exit code and all that it printed. */
  run(command: readonly string[], environment?: Readonly<Record<string, string>>): Promise<CommandOutcome>;
  /** Restores every file as it is in the repository. */
  reset(): void;
  delete(): void;
}

/** How a program ended. */
export interface CommandOutcome {
  /** -1 if it was ended by a signal. */
  readonly code: number;
  readonly output: string;
}

/** Copies all files that git tracks or would track. */
export function copyRepository(): RepositoryCopy {
  const root = mkdtempSync(join(tmpdir(), "isthmus-contributing-"));
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: REPOSITORY,
    encoding: "utf8",
  });
  // A file that is deleted in the working tree is still listed.
  const paths = listed.split("\0").filter((path) => path !== "" && existsSync(join(REPOSITORY, path)));
  for (const path of paths) cpSync(join(REPOSITORY, path), join(root, path));
  linkModules(root);
  const original = contentsOf(root);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const touched = (): readonly string[] => {
    const current = contentsOf(root);
    return [...new Set([...original.keys(), ...current.keys()])].filter((path) => original.get(path) !== current.get(path)).sort();
  };
  return {
    apply(recipe, edits) {
      for (const edit of edits) write(edit.path, editedText(recipe, edit, textOf(root, edit.path)));
    },
    read: (path) => readFileSync(join(root, path), "utf8"),
    touched,
    run: (command, environment) => run(root, command, environment),
    reset() {
      for (const path of touched()) {
        const text = original.get(path);
        if (text === undefined) rmSync(join(root, path));
        else write(path, text);
      }
    },
    delete: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Installed packages are links to those of the repository; the packages of the workspace are those of the copy. */
function linkModules(root: string): void {
  const installed = join(REPOSITORY, "node_modules");
  mkdirSync(join(root, "node_modules"));
  // Folders that tools write into are not shared: `.cache`, `.vite` and the like. `.bin` has the programs.
  const names = readdirSync(installed).filter((name) => name === ".bin" || !name.startsWith("."));
  for (const name of names) {
    if (name === "@isthmus") cpSync(join(installed, name), join(root, "node_modules", name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(join(installed, name), join(root, "node_modules", name));
  }
}

/** The text of a file; undefined if there is none. */
export function textOf(root: string, path: string): string | undefined {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** Every file outside of node_modules, by path. Binary files are compared as text, which is enough to notice a change. */
function contentsOf(root: string): ReadonlyMap<string, string> {
  const contents = new Map<string, string>();
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.name === "node_modules") continue;
      if (entry.isDirectory()) walk(path);
      else contents.set(path, readFileSync(join(root, path), "utf8"));
    }
  };
  walk("");
  return contents;
}

function run(cwd: string, [program = "", ...args]: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  // vitest sets these for its own tests; a run inside of one must not take them for its own.
  const { VITEST: _, VITEST_MODE: __, VITEST_POOL_ID: ___, VITEST_WORKER_ID: ____, NODE_ENV: _____, ...inherited } = process.env;
  const env = { ...inherited, NO_COLOR: "1", FORCE_COLOR: "0", ...environment };
  return new Promise<CommandOutcome>((resolve) => {
    execFile(program, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, output: `${stdout}${stderr}` });
    });
  });
}
