import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { recipes } from "./recipes/index.ts";
import { copyRepository, REPOSITORY } from "./repositoryCopy.ts";
import { filesNamed, recipeSections } from "./sections.ts";

const sections = recipeSections(readFileSync(join(REPOSITORY, "CONTRIBUTING.md"), "utf8"));
const GOLDEN = "packages/translators/test/golden.test.ts";
// What `npm run generate:…` writes. CONTRIBUTING.md does not count it.
const GENERATED = /^(deploy\/(crds|helm)\/|docs\/reference\/(kinds\/|findings\.md$|metrics\.md$))/;
// Behind other suites a test that takes seconds takes minutes.
const HANGS_AFTER_MS = 1_200_000;
// What one example may break: everything in `npm run check` that another example does not hide.
const CHECKS = ["types", "CRDs", "charts", "kinds", "findings", "metrics", "documents"];
// Checks of each file by itself or of names, run once for all examples.
const CHECKS_OF_STRUCTURE = ["imports", "sizes", "language"];

// Each takes a processor minute: CI leaves those to `.ci/nightly` that are much like the others.
const tried = sections.filter(
  ({ heading }) => process.env["ISTHMUS_NIGHTLY"] === "1" || recipes.find((recipe) => recipe.heading === heading)?.isNightly !== true,
);

const copy = copyRepository();
afterEach(() => copy.reset());
afterAll(() => copy.delete());

/** Runs a program in the copy. Fails with all that it printed, unless it exits with 0. */
async function succeeds(command: readonly string[], environment?: Readonly<Record<string, string>>): Promise<void> {
  const { code, output } = await copy.run(command, environment);
  expect(code, `${command.join(" ")}\n${output}`).toBe(0);
}

// In the order of CONTRIBUTING.md, each in the same copy, which is reset in between.
describe.each(tried.map((section) => [section.heading, section] as const))("%s", (heading, section) => {
  test("touches the files that are listed, compiles, passes the checks and gives its golden files", async () => {
    const recipe = recipes.find((candidate) => candidate.heading === heading);
    if (recipe === undefined) throw new Error(`tests/contributing/recipes has no example of "${heading}"`);
    const { edits, golden, names, needsAdditionalFile: additional = false, tests } = recipe;
    copy.apply(heading, edits);
    for (const script of section.scripts) await succeeds(["npm", "run", "--silent", script]);
    const code = copy.touched().filter((path) => path.endsWith(".ts"));
    await Promise.all([
      succeeds(["npm", "run", "--silent", "check", "--", ...CHECKS]),
      succeeds(["node_modules/.bin/biome", "check", "--error-on-warnings", ...code]),
      // As `npm run golden:update`, without the tests that write no golden files. A golden file of another case that changes is touched.
      succeeds(
        [
          "node_modules/.bin/vitest",
          "run",
          `--testTimeout=${HANGS_AFTER_MS}`,
          ...(Object.keys(golden).length === 0 ? [] : [GOLDEN]),
          ...tests,
        ],
        {
          UPDATE_GOLDEN: "1",
        },
      ),
    ]);

    const touched = copy.touched();
    expect(touched.filter((path) => !GENERATED.test(path))).toEqual(filesNamed(section, { names, additional }));
    for (const [path, text] of Object.entries(golden)) expect(copy.read(path)).toContain(text);
  });
});

test("all examples together pass the checks of structure", async () => {
  for (const { heading, edits } of recipes) copy.apply(heading, edits);
  await succeeds(["npm", "run", "--silent", "check", "--", ...CHECKS_OF_STRUCTURE]);
});
