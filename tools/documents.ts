import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT_DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
const READMES = ["packages", "apps", "tests"];
const SKIPPED = new Set(["node_modules", "dist", "testdata"]);

/** The project's Markdown documents by path relative to `root`: those in the root folder that exist, all below `docs`, and each README.md of packages, apps and tests. */
export function readDocuments(root: string): ReadonlyMap<string, string> {
  const paths = [
    ...ROOT_DOCUMENTS.filter((path) => existsSync(join(root, path))),
    ...markdownIn(root, "docs"),
    ...READMES.flatMap((folder) => readmesIn(root, folder)),
  ];
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]));
}

/** The lines of a document, with those of code blocks emptied: examples may name what a reader will create. */
export function withoutCodeBlocks(text: string): readonly string[] {
  let inBlock = false;
  return text.split("\n").map((line) => {
    const isFence = line.startsWith("```");
    if (isFence) inBlock = !inBlock;
    return isFence || inBlock ? "" : line;
  });
}

function markdownIn(root: string, folder: string): readonly string[] {
  if (!existsSync(join(root, folder))) return [];
  const entries = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return entries
    .filter((entry) => entry.endsWith(".md"))
    .map((entry) => `${folder}/${entry}`)
    .sort();
}

function readmesIn(root: string, folder: string): readonly string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : readmesIn(root, path);
    return entry.name === "README.md" ? [path] : [];
  });
}
