import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CheckResult } from "./checkResult.ts";
import { GENERATED, generateMessages } from "./generatedMessages.ts";

/** Generates all messages again and compares them with the checked-in ones. Works without network. */
export async function checkProto(root: string): Promise<CheckResult> {
  const fresh = mkdtempSync(join(tmpdir(), "isthmus-proto-"));
  try {
    const failed = await generateMessages(fresh);
    if (failed.length > 0) return { summary: GENERATED.join(", "), problems: failed };
    let count = 0;
    const problems = GENERATED.flatMap((folder) => {
      const wanted = filesIn(join(fresh, folder));
      const present = filesIn(join(root, folder));
      count += wanted.size;
      const paths = [...new Set([...wanted.keys(), ...present.keys()])].sort();
      const stale = paths.filter((path) => wanted.get(path) !== present.get(path));
      const nothing = wanted.size === 0 ? [`buf generated nothing in ${folder}`] : [];
      return [...stale.map((path) => `${folder}/${path} is not what its .proto file gives: run \`npm run generate:proto\``), ...nothing];
    });
    return { summary: `${count} files in ${GENERATED.join(", ")}`, problems };
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
