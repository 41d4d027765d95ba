import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import { isMainThread } from "node:worker_threads";
import { messageOf } from "@isthmus/core";
import { StoreError } from "@isthmus/ports";

/**
 * Makes a directory, or takes one, that only the user of this process reads and writes: 0700, with files of 0600. Throws StoreError for one
 * in which others may have written, as what is in files is believed.
 */
export function ownDirectory(path: string): void {
  try {
    // LevelDB makes its files with what the process leaves of 0644.
    if (isMainThread) process.umask(0o077);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    take(path, "a directory", (stats) => stats.isDirectory());
    refuseOpenParents(path);
    for (const name of readdirSync(path)) take(join(path, name), "a file", (stats) => stats.isFile());
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new StoreError(`the store in ${path} cannot be used: ${messageOf(error)}`, error);
  }
}

/** Takes from all others what they may do with it. A link could lead to what is not ours, now or later. */
function take(path: string, what: string, isOne: (stats: Stats) => boolean): void {
  const stats = lstatSync(path);
  const user = process.geteuid?.();
  if (!isOne(stats)) throw new StoreError(`${path} is not ${what}, but a link or something else: use ${what} for the store only`);
  if (user !== undefined && stats.uid !== user) {
    throw new StoreError(
      `${path} belongs to user ${stats.uid}, but this process runs as user ${user}: use a separate directory for the store, for example one ` +
        "that does not exist yet, below the mounted one",
    );
  }
  if ((stats.mode & OTHERS_WRITE) !== 0) {
    throw new StoreError(
      `${path} is writable by other users (mode ${modeOf(stats)}), so its content cannot be trusted: ` +
        `delete it or, if no other user wrote to it, run chmod go-rwx ${path}`,
    );
  }
  const mode = stats.isDirectory() ? 0o700 : 0o600;
  if ((stats.mode & 0o777) !== mode) chmodSync(path, mode);
}

/** Anyone who may write to a directory above can put another one in the place of ours; a sticky one, such as /tmp, keeps them from that. */
function refuseOpenParents(path: string): void {
  for (let at = realpathSync(path); dirname(at) !== at; ) {
    at = dirname(at);
    const stats = lstatSync(at);
    if ((stats.mode & WORLD_WRITES) === 0 || (stats.mode & STICKY) !== 0) continue;
    throw new StoreError(
      `${at}, which contains ${path}, is writable by all users (mode ${modeOf(stats)}): run chmod o-w ${at}, or use another directory`,
    );
  }
}

function modeOf({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

const OTHERS_WRITE = 0o022;
const WORLD_WRITES = 0o002;
const STICKY = 0o1000;
