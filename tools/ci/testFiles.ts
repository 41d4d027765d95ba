import { readdirSync } from "node:fs";
import { join } from "node:path";
import { sampledTests } from "../sampledTests.ts";

/** The test files of `npm run test:long`: those that are named so, and those of which `npm test` tries a part. */
export function longTests(root: string): readonly string[] {
  const named = ["apps", "packages", "tests", "tools"].flatMap((folder) => filesBelow(root, folder, ".long.test.ts"));
  return [...named.filter((path) => !path.startsWith("tests/real/")), ...sampledTests(root)].sort();
}

/** The test files of `npm run test:real`. */
export function realTests(root: string): readonly string[] {
  return filesBelow(root, "tests/real", ".test.ts");
}

/** Whether CI leaves a test file to `.ci/nightly`: named `*.nightly.test.ts`. A sample of what it guards is in another one. */
export function isNightly(file: string): boolean {
  return file.endsWith(".nightly.test.ts");
}

function filesBelow(root: string, folder: string, end: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return entry.name === "node_modules" || entry.name === "dist" ? [] : filesBelow(root, path, end);
      return path.endsWith(end) ? [path] : [];
    })
    .sort();
}

/** The test files of `npm test`. */
export function shortTests(root: string): readonly string[] {
  const all = ["apps", "packages", "tests", "tools"].flatMap((folder) => filesBelow(root, folder, ".test.ts"));
  return all.filter((path) => !path.startsWith("tests/real/") && !path.endsWith(".long.test.ts"));
}
