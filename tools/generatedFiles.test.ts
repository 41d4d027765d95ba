import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkGenerated, type GeneratedFiles, writeGenerated } from "./generatedFiles.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "isthmus-generated-"));
});
afterEach(() => rmSync(root, { recursive: true }));

/** Two files in a folder that holds nothing else, and one beside it. */
function example(problems: readonly string[] = []): GeneratedFiles {
  const folder = join(root, "folder");
  return {
    script: "generate:example",
    source: "the example",
    place: "folder",
    folders: [folder],
    problems: () => problems,
    contents: () =>
      new Map([
        [join(folder, "a.md"), "a\n"],
        [join(folder, "b.md"), "b\n"],
        [join(root, "page.md"), "page\n"],
      ]),
  };
}

describe("generated files", () => {
  it("are checked without being written: what is missing, edited or left is named", async () => {
    mkdirSync(join(root, "folder"));
    writeFileSync(join(root, "folder/a.md"), "a\n");
    writeFileSync(join(root, "folder/b.md"), "by hand\n");
    writeFileSync(join(root, "folder/old.md"), "");
    const { summary, problems } = await checkGenerated(example());
    expect(summary).toBe("folder");
    expect(problems).toEqual(
      ["folder/b.md", "folder/old.md", "page.md"].map(
        (name) => `${join(root, name)} does not follow from the example: run npm run generate:example`,
      ),
    );
    expect(readFileSync(join(root, "folder/b.md"), "utf8")).toBe("by hand\n");
    expect(readdirSync(root)).toEqual(["folder"]);
  });

  it("are up to date once they are written", async () => {
    mkdirSync(join(root, "folder"));
    writeFileSync(join(root, "folder/old.md"), "");
    expect((await writeGenerated(example())).summary).toBe("folder: 3 files, 3 written, 1 removed");
    expect(readdirSync(join(root, "folder"))).toEqual(["a.md", "b.md"]);
    expect((await checkGenerated(example())).problems).toEqual([]);
    expect((await writeGenerated(example())).summary).toBe("folder: 3 files, 0 written, 0 removed");
  });

  it("are refused for what is wrong with the sources, also where they are up to date", async () => {
    await writeGenerated(example());
    expect((await checkGenerated(example(["a name that nothing sets"]))).problems).toEqual(["a name that nothing sets"]);
    expect((await writeGenerated(example(["a name that nothing sets"]))).problems).toEqual(["a name that nothing sets"]);
  });
});
