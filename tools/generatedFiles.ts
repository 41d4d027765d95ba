import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CheckResult } from "./checkResult.ts";

/** Files that follow from sources and are checked in. */
export interface GeneratedFiles {
  /** The npm script that writes them, such as `generate:crds`. */
  readonly script: string;
  /** What they follow from, as a message names it. */
  readonly source: string;
  /** Where they are, as a summary names it. */
  readonly place: string;
  /** Folders that hold nothing else: what is left there is deleted. */
  readonly folders: readonly string[];
  /** What is wrong with the sources themselves. Files are written all the same. */
  readonly problems?: () => readonly string[];
  /** Contents by path, read from the sources at each call. Paths are relative to the root, in which npm runs scripts. */
  readonly contents: () => ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>>;
}

/** Compares what is checked in with what the sources give, and writes nothing. */
export async function checkGenerated(generated: GeneratedFiles): Promise<CheckResult> {
  const { script, source, place, problems = () => [] } = generated;
  const { stale, left } = compared(generated, await generated.contents());
  const differing = [...stale, ...left].sort().map((path) => `${path} does not follow from ${source}: run npm run ${script}`);
  return { summary: place, problems: [...problems(), ...differing] };
}

/** Writes what differs and deletes what is left in the folders. */
export async function writeGenerated(generated: GeneratedFiles): Promise<CheckResult> {
  const { place, problems = () => [] } = generated;
  const contents = await generated.contents();
  const { stale, left } = compared(generated, contents);
  for (const path of stale) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents.get(path) ?? "");
  }
  for (const path of left) rmSync(path);
  return { summary: `${place}: ${contents.size} files, ${stale.length} written, ${left.length} removed`, problems: problems() };
}

interface Difference {
  /** Paths that are missing or have another content. */
  readonly stale: readonly string[];
  /** Paths that nothing generates any more. */
  readonly left: readonly string[];
}

function compared({ folders }: GeneratedFiles, contents: ReadonlyMap<string, string>): Difference {
  const stale = [...contents].filter(([path, content]) => !existsSync(path) || readFileSync(path, "utf8") !== content);
  const present = folders.flatMap((folder) => (existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []));
  return { stale: stale.map(([path]) => path), left: present.filter((path) => !contents.has(path)) };
}
