import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ProjectFiles } from "./projectFiles.ts";
import type { SuiteInputs } from "./suiteInputs.ts";

/** What decides about every suite, beside its own inputs. */
export interface World {
  /** Node, machine, packages, components, switches: as text. */
  readonly machine: string;
  /** Hash of the material beside the project that suites read. */
  readonly shared: string;
}

/** Files that every run depends on. */
export const ALWAYS = [".ci", ".npmrc", "package.json", "package-lock.json", "tools/ci", "tools/run.mjs", "tsconfig.json"];
/** Folders beside the project that suites read; the others are texts for people. */
const SHARED_FOLDERS = ["agent-services", "brownfield", "cilium-judge", "examples", "field", "nodes", "reference-cases", "testbed"];
/** Debian's packages that the suites start programs of. */
const PACKAGES = ["chromium", "curl", "etcd-server", "fish", "iproute2", "jq", "nftables", "openssl", "python3", "redis-server", "zsh"];
/** Switches that say what is run, not how. */
const NOT_OF_SUITES = /^ISTHMUS_(?:API_SERVERS|BUILT|CI_.*|INSTALLED|LONG_FOLLOWS|MEASURES|SHARED)$/;

/** The key of a suite: equal where everything that decides what it does is equal. */
export function keyOf(suite: SuiteInputs, files: ProjectFiles, world: World): string {
  const paths = new Set([...suite.files, ...ALWAYS.flatMap((path) => files.below(path))]);
  return hashOf([hashOfFiles([...paths].sort(), files), world.machine, suite.readsShared ? world.shared : ""]);
}

/** One hash of what files contain; of a folder, of all in it. What is gone counts as gone. */
export function hashOfFiles(paths: readonly string[], files: ProjectFiles): string {
  const each = paths.flatMap((path) => (files.has(path) ? files.below(path) : [path]));
  return hashOf([...new Set(each)].sort().map((path) => `${path} ${files.hashes.get(path) ?? "gone"}`));
}

/** Reads it. `components` is the list that `tests/real/install.sh` has written, `shared` the folder beside the project. */
export function readWorld(components: string, shared: string, environment: Readonly<Record<string, string | undefined>>): World {
  const switches = Object.entries(environment)
    .filter(([name]) => (name.startsWith("ISTHMUS_") && !NOT_OF_SUITES.test(name)) || name === "NODE_OPTIONS")
    .map(([name, value]) => `${name}=${value}`);
  const machine = [
    `${process.version} ${process.arch}`,
    textOf("/etc/os-release"),
    textOf(components),
    versionsOf(PACKAGES),
    ...switches.sort(),
  ].join("\n");
  return { machine, shared: hashOf(SHARED_FOLDERS.flatMap((name) => contentsOf(shared, name))) };
}

function contentsOf(shared: string, name: string): readonly string[] {
  const folder = join(shared, name);
  if (!existsSync(folder)) return [`${name} is not there`];
  return (
    readdirSync(folder, { recursive: true, withFileTypes: true })
      // Python keeps what it has compiled beside its sources.
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".pyc"))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => `${path.slice(shared.length)} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`)
  );
}

function versionsOf(packages: readonly string[]): string {
  try {
    const format = "--showformat=$" + "{Package} $" + "{Version}\n";
    return execFileSync("dpkg-query", ["--show", format, ...packages], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch (error) {
    // What is not installed is left out, and the others are printed all the same.
    return String((error as { readonly stdout?: string }).stdout ?? "");
  }
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

function hashOf(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
