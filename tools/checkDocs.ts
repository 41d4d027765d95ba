import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { decisionProblems } from "./checkDecisions.ts";
import type { CheckResult } from "./checkResult.ts";
import { readDocuments, withoutCodeBlocks } from "./documents.ts";

/** Fails where a document names what does not exist: a file, a folder or an npm script; and where a package has no README.md. */
export function checkDocs(root: string): CheckResult {
  const documents = readDocuments(root);
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: Record<string, string> };
  const problems: string[] = [];
  let names = 0;
  for (const [document, text] of documents) {
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
  problems.push(...missingReadmes(root), ...decisionProblems(documents));
  if (documents.size === 0) problems.push("no document was found");
  return { summary: `${names} names in ${documents.size} documents`, problems };
}

/** Each package and app has a README.md: what it is for. */
function missingReadmes(root: string): readonly string[] {
  return ["packages", "apps"].flatMap((top) =>
    (existsSync(join(root, top)) ? readdirSync(join(root, top)) : [])
      .filter((name) => existsSync(join(root, top, name, "package.json")) && !existsSync(join(root, top, name, "README.md")))
      .map((name) => `${top}/${name} has no README.md that says what it is for`),
  );
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
  withoutCodeBlocks(text).forEach((content, index) => {
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
