import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The programs of an earlier version, as files. */
export interface Programs {
  readonly server: string;
  readonly agent: string;
}

/**
 * The programs of a commit, built from the history of this clone with its installed dependencies, once: they are kept with the real
 * components, below the hash of the commit. Else why there are none.
 */
export function earlierRelease(commit: string): Programs | { readonly missing: string } {
  const cache = dirname(execFileSync(join(root, "tests/real/cache.sh"), { encoding: "utf8" }).trim());
  const folder = join(cache, `release-${commit}`);
  if (!existsSync(folder)) {
    if (!hasCommit(commit)) return { missing: `commit ${commit} is not in this clone: git fetch --unshallow` };
    mkdirSync(cache, { recursive: true });
    const making = mkdtempSync(join(cache, "making-"));
    build(commit, making);
    keep(making, folder);
  }
  return { server: join(folder, "apps/mgmt-server/bin/mgmt-server.js"), agent: join(folder, "apps/agent/bin/agent.js") };
}

function hasCommit(commit: string): boolean {
  try {
    execFileSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: root, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function build(commit: string, folder: string): void {
  const archive = execFileSync("git", ["archive", "--format=tar", commit], { cwd: root, maxBuffer: MAX_ARCHIVE_BYTES });
  execFileSync("tar", ["--extract", "--directory", folder], { input: archive });
  linkDependencies(folder);
  execFileSync(process.execPath, [join(folder, "tools/build.mjs")], { cwd: folder, stdio: "inherit" });
}

const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;

/** Packages of npm are those of this checkout; those of the workspace are the commit's own. */
function linkDependencies(folder: string): void {
  const installed = realpathSync(join(root, "node_modules"));
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@isthmus"), { recursive: true });
  for (const name of readdirSync(installed)) {
    if (name !== "@isthmus" && !name.startsWith(".")) symlinkSync(join(installed, name), join(modules, name));
  }
  for (const name of readdirSync(join(folder, "packages"))) symlinkSync(join(folder, "packages", name), join(modules, "@isthmus", name));
}

/** Another run may have been faster. */
function keep(made: string, folder: string): void {
  try {
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}
