import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CheckResult } from "./checkResult.ts";

/** Fails where a document names a file, a folder or an npm script of the project that does not exist. */
export function checkDocs(root: string): CheckResult {
  const documents = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", ...markdownIn(root, "docs")].filter((path) =>
    existsSync(join(root, path)),
  );
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: Record<string, string> };
  const problems: string[] = [];
  let names = 0;
  for (const document of documents) {
    const text = readFileSync(join(root, document), "utf8");
    for (const { name, line, base } of namesIn(text)) {
      names++;
      const folder = base === "document" ? dirname(document) : "";
      if (!existsSync(join(root, folder, name))) problems.push(`${document}:${line}: ${name} does not exist`);
    }
    for (const { script, line } of scriptsIn(text)) {
      names++;
      if (!(script in scripts)) problems.push(`${document}:${line}: package.json has no script "${script}"`);
    }
  }
  if (documents.length === 0) problems.push("no document was found");
  return { summary: `${names} names in ${documents.length} documents`, problems };
}

function markdownIn(root: string, folder: string): readonly string[] {
  if (!existsSync(join(root, folder))) return [];
  const entries = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return entries
    .filter((entry) => entry.endsWith(".md"))
    .map((entry) => `${folder}/${entry}`)
    .sort();
}

interface NamedFile {
  readonly name: string;
  readonly line: number;
  /** Links are relative to their document, names in backticks to the root. */
  readonly base: "document" | "root";
}

/** Paths in backticks that begin with a folder of the project, and the targets of links that are not addresses. */
function namesIn(text: string): readonly NamedFile[] {
  const found: NamedFile[] = [];
  withoutBlocks(text).forEach((content, index) => {
    const line = index + 1;
    for (const [, name = ""] of content.matchAll(/`((?:packages|apps|tools|tests|deploy|docs|proto)\/[\w@./-]*)`/g)) {
      found.push({ name, line, base: "root" });
    }
    for (const [, name = ""] of content.matchAll(/\]\((?!\w+:|#)([^)#\s]+)(?:#[^)]*)?\)/g)) found.push({ name, line, base: "document" });
  });
  return found;
}

function scriptsIn(text: string): readonly { readonly script: string; readonly line: number }[] {
  return text
    .split("\n")
    .flatMap((content, index) => [...content.matchAll(/npm run ([\w:-]+)/g)].map(([, script = ""]) => ({ script, line: index + 1 })));
}

/** The lines of a document, with those of code blocks emptied: examples may name what a reader will create. */
function withoutBlocks(text: string): readonly string[] {
  let inBlock = false;
  return text.split("\n").map((line) => {
    const isFence = line.startsWith("```");
    if (isFence) inBlock = !inBlock;
    return isFence || inBlock ? "" : line;
  });
}
