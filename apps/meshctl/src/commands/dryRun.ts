import { UsageError } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { Option } from "commander";
import type { Io } from "../io.ts";

/** `--dry-run`, of each command that changes clusters. */
export function dryRunOption(): Option {
  return new Option("--dry-run", "change nothing: print what would be changed, one object per line");
}

/** The words of a line in which `--dry-run` may be written as for kubectl. Throws UsageError for what there is not here. */
export function withPlainDryRun(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  const options = end < 0 ? words : words.slice(0, end);
  if (options.includes("--dry-run=client"))
    throw new UsageError("--dry-run=client: API servers are always asked, and change nothing: write --dry-run, or --dry-run=server");
  return words.map((word, i) => (word === "--dry-run=server" && i < options.length ? "--dry-run" : word));
}

/** Gives the cluster in which a command works. */
export type Within = (cluster: Cluster) => Cluster;

/** Does something, or with `dryRun` prints on standard output what it would change. True: it was done. */
export async function doneOrTried(io: Io, dryRun: true | undefined, act: (within: Within) => Promise<void>): Promise<boolean> {
  if (dryRun !== true) {
    await act((cluster) => cluster);
    return true;
  }
  const lines = await triedChanges(act);
  await io.out(lines.map((line) => `${line}\n`).join(""));
  io.note("Nothing was changed (--dry-run).\n");
  return false;
}

/** What something would change. */
export async function triedChanges(act: (within: Within) => Promise<void>): Promise<readonly string[]> {
  const { dryRunCluster } = await import("../cluster/dryRunCluster.ts");
  const lines: string[] = [];
  await act((cluster) => dryRunCluster(cluster, (line) => lines.push(line)));
  return lines;
}

/** Lists what goes, and asks whether it may. Throws UsageError unless the user agrees. */
export async function confirmed(ask: NonNullable<Io["ask"]>, io: Io, changes: readonly string[]): Promise<void> {
  io.err(changes.map((line) => `${line}\n`).join(""));
  if (!(await ask("Do this?"))) throw new UsageError("nothing was changed");
}
