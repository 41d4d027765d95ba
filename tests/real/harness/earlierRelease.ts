import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The programs of an earlier version, as files. */
export interface Programs {
  readonly server: string;
  readonly agent: string;
  readonly areEarlier: true;
}

/**
 * The programs of a commit, built from the history of this clone with its installed dependencies, once: they are kept beside those,
 * below the hash of the commit. Else why there are none.
 */
export function earlierRelease(commit: string): Programs | { readonly missing: string } {
  const cache = join(root, "node_modules/.cache/isthmus");
  const folder = join(cache, `release-${commit}`);
  if (!existsSync(folder)) {
    if (!hasCommit(commit)) fetchHistory();
    if (!hasCommit(commit)) return { missing: `commit ${commit} is not in this clone: git fetch --unshallow` };
    mkdirSync(cache, { recursive: true });
    const making = mkdtempSync(join(cache, "making-"));
    build(commit, making);
    keep(making, folder);
  }
  return { server: join(folder, "apps/mgmt-server/bin/mgmt-server.js"), agent: join(folder, "apps/agent/bin/agent.js"), areEarlier: true };
}

/** A clone that CI made may lack the history; nobody else's is changed. */
function fetchHistory(): void {
  if (process.env["CI"] === undefined) return;
  try {
    execFileSync("git", ["fetch", "--quiet", "--unshallow"], { cwd: root, stdio: "ignore", timeout: 120_000 });
  } catch {
    // That the commit is missing is said by the caller.
  }
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
  linkWorkspace(folder);
  execFileSync(process.execPath, [join(folder, "tools/build.mjs")], { cwd: folder, stdio: "inherit" });
}

const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;

/** Packages of npm are those of this checkout, as its node_modules lies above; those of the workspace are the commit's own. */
function linkWorkspace(folder: string): void {
  const modules = join(folder, "node_modules/@isthmus");
  mkdirSync(modules, { recursive: true });
  for (const name of readdirSync(join(folder, "packages"))) symlinkSync(join("../../packages", name), join(modules, name));
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
