import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { checkDocs } from "./checkDocs.ts";
import { textWithFolders } from "./generatedFolders.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function problemsIn(files: Readonly<Record<string, string>>): readonly string[] {
  const root = mkdtempSync(join(tmpdir(), "isthmus-docs-"));
  folders.push(root);
  for (const [path, text] of Object.entries({ "package.json": '{ "scripts": { "demo": "x" } }', ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return checkDocs(root).problems;
}

describe("checkDocs", () => {
  it("accepts names of what exists, and whatever stands in a code block", () => {
    const text =
      "`packages/core/src/ref.ts` and [why](docs/decisions/0001.md#decision), `npm run demo`, https://x.y\n```\n`apps/none.ts`\n```\n";
    const files = { "packages/core/src/ref.ts": "", "docs/decisions/0001.md": "[back](../../README.md)" };
    expect(problemsIn({ ...files, "README.md": text })).toEqual([]);
  });

  it("refuses a file, a link and a script that are gone", () => {
    const text = "`packages/core/src/gone.ts`\n[x](./gone.md)\nnpm run gone";
    expect(problemsIn({ "README.md": text })).toEqual([
      "README.md:1: packages/core/src/gone.ts does not exist",
      "README.md:2: ./gone.md does not exist",
      'README.md:3: package.json has no script "gone"',
    ]);
  });

  it("refuses a package without a README.md", () => {
    const files = { "README.md": "", "packages/core/package.json": "{}", "packages/api/package.json": "{}", "packages/api/README.md": "" };
    expect(problemsIn(files)).toEqual(["packages/core has no README.md that says what it is for"]);
  });
});

describe("textWithFolders", () => {
  it("replaces what is between the comments, and nothing else", () => {
    const written = textWithFolders("# core\n", "one");
    expect(written).toContain("# core\n\n## Folders\n");
    expect(textWithFolders(`${written}\nby hand\n`, "two")).toBe(`${written.replace("one", "two")}\nby hand\n`);
  });
});
