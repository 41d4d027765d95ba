import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CheckResult } from "./checkResult.ts";
import { commandResult } from "./commandResult.ts";

const GENERATED = "packages/relay/src/gen";

/** Generates the relay's messages anew from `proto/` and compares them with the checked-in ones. Works without network. */
export async function checkProto(root: string): Promise<CheckResult> {
  const fresh = mkdtempSync(join(tmpdir(), "isthmus-proto-"));
  try {
    // buf generates below `--output`, as it would below the root.
    const generated = await commandResult(["node_modules/.bin/buf", "generate", "--output", fresh], GENERATED);
    if (generated.problems.length > 0) return generated;
    const wanted = filesIn(join(fresh, GENERATED));
    const present = filesIn(join(root, GENERATED));
    const paths = [...new Set([...wanted.keys(), ...present.keys()])].sort();
    const stale = paths.filter((path) => wanted.get(path) !== present.get(path));
    const problems = stale.map((path) => `${GENERATED}/${path} is not what proto/ gives: run \`npm run generate:proto\``);
    if (wanted.size === 0) problems.push("buf generated nothing");
    return { summary: `${wanted.size} files in ${GENERATED}`, problems };
  } finally {
    rmSync(fresh, { recursive: true });
  }
}

function filesIn(folder: string): ReadonlyMap<string, string> {
  if (!existsSync(folder)) return new Map();
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    paths.map((entry) => [
      join(entry.parentPath, entry.name).slice(folder.length + 1),
      readFileSync(join(entry.parentPath, entry.name), "utf8"),
    ]),
  );
}
