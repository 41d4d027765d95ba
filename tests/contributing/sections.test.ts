import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { editedText, insertAfter } from "./edit.ts";
import { recipes } from "./recipes/index.ts";
import { REPOSITORY, textOf } from "./repositoryCopy.ts";
import { filesNamed, recipeSections } from "./sections.ts";

const CONTRIBUTING = readFileSync(join(REPOSITORY, "CONTRIBUTING.md"), "utf8");
const sections = recipeSections(CONTRIBUTING);

test("each section has one example", () => {
  expect(recipes.map(({ heading }) => heading)).toEqual(sections.map(({ heading }) => heading));
});

describe.each(recipes.map((recipe) => [recipe.heading, recipe] as const))(
  "%s",
  (heading, { names, needsAdditionalFile, edits, golden }) => {
    test("lists the files of its example", () => {
      const touched = new Set([...edits.map(({ path }) => path), ...Object.keys(golden)]);
      const listed = sections
        .filter((section) => section.heading === heading)
        .map((section) => filesNamed(section, { names, additional: needsAdditionalFile ?? false }));
      expect(listed).toEqual([[...touched].sort()]);
    });

    test("has an example that fits the repository", () => {
      const texts = new Map<string, string | undefined>();
      for (const edit of edits) {
        const current = texts.has(edit.path) ? texts.get(edit.path) : textOf(REPOSITORY, edit.path);
        texts.set(edit.path, editedText(heading, edit, current));
      }
      expect(texts.size).toBeGreaterThan(0);
    });
  },
);

// Each table of members in CONTRIBUTING.md, by the interface whose members it describes.
test.each([
  ["Definition", "packages/translators/src/meshes/istio/features/feature.ts", "Adding a feature of TrafficPolicy", ["refersTo"]],
  ["MeshTranslator", "packages/translators/src/meshes/meshTranslator.ts", "Adding a mesh", []],
])("the table of the members of %s has all of them", (name, path, heading, others: readonly string[]) => {
  const [, section = ""] = CONTRIBUTING.split(`## ${heading}\n`);
  const [text = ""] = section.split("\n## ");
  const rows = [...text.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = ""]) => [...cell.matchAll(/`(\w+)`/g)].map(([, member]) => member));
  const [, declared = ""] = (textOf(REPOSITORY, path) ?? "").split(new RegExp(`interface ${name}\\b`));
  const [body = ""] = declared.split("\n}");
  const members = [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, member]) => member);
  expect(members.length).toBeGreaterThan(1);
  expect([...rows].sort()).toEqual([...members, ...others].sort());
});

describe("a section is refused", () => {
  const text = "## Adding a thing\n\nTwo files:\n\n1. `a.ts`: one;\n2. `<name>.ts`: another.\n\nA third, `c.ts`, if it is large.\n";

  test("not if its number is that of its list", () => {
    const [section] = recipeSections(text);
    expect(section).toEqual({ heading: "Adding a thing", count: 2, paths: ["a.ts", "<name>.ts"], additionalPath: "c.ts", scripts: [] });
    if (section === undefined) return;
    expect(filesNamed(section, { names: { name: "b" }, additional: false })).toEqual(["a.ts", "b.ts"]);
    expect(filesNamed(section, { names: { name: "b" }, additional: true })).toEqual(["a.ts", "b.ts", "c.ts"]);
    expect(() => filesNamed(section, { names: {}, additional: false })).toThrow("has no value for <name>");
  });

  test.each([
    ["without a number", "Two files", "Some files", '"Some files": not a number in words'],
    ["with another number than its list", "Two files", "Three files", 'it says "Three files", and lists 2'],
    ["with a list that skips a number", "2. `<name>", "3. `<name>", "item 3 of the list should be 2"],
    ["with an item without a path", "1. `a.ts`: one", "1. one", "item 1 does not begin with a path"],
    ["with an additional file that does not follow", "A third", "A fifth", '"A fifth" does not follow 2 files'],
  ])("%s", (_, before, after, problem) => {
    expect(() => recipeSections(text.replace(before, after))).toThrow(problem);
  });
});

test("an anchor that has moved is named with its recipe and file", () => {
  const edit = insertAfter("a.ts", "const a", " = 1");
  expect(editedText("A thing", edit, "const a;")).toBe("const a = 1;");
  expect(() => editedText("A thing", edit, "const b;")).toThrow('recipe "A thing": the anchor "const a" occurs 0 times in a.ts');
  expect(() => editedText("A thing", edit, "const a; const a;")).toThrow("occurs 2 times");
  expect(() => editedText("A thing", edit, undefined)).toThrow("a.ts does not exist");
  expect(() => editedText("A thing", { path: "a.ts", text: "" }, "const a;")).toThrow("a.ts already exists");
});
