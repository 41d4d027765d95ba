import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readDocuments } from "../../tools/documents.ts";
import { type Block, blocksOf, isShell } from "./blocks.ts";
import { problemOf } from "./problems.ts";
import { runDocuments } from "./runDocuments.ts";
import { commandsOf, differenceOf } from "./transcript.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const fence = "```";
const run = new Set(runDocuments.map(({ path }) => path));

// CONTRIBUTING.md is for developers: CI runs its scripts.
const documents = [...readDocuments(root)].filter(([path]) => path === "README.md" || path.startsWith("docs/"));
const blocks = documents.flatMap(([path, text]) => blocksOf(path, text));

function only(markdown: string): Block {
  const [block] = blocksOf("docs/x.md", markdown);
  if (block === undefined) throw new TypeError("no block");
  return block;
}

describe("the blocks of commands in documents", () => {
  it("are run by a test, or say what prevents it", () => {
    expect(blocks.filter(isShell).length).toBeGreaterThan(20);
    expect(
      blocks.map((block) => problemOf(block, { isRun: run.has(block.document), root })).filter((problem) => problem !== undefined),
    ).toEqual([]);
  });

  it("are there in every document that is run", () => {
    const idle = [...run].filter((path) => !blocks.some((block) => block.document === path && isShell(block) && block.note === undefined));
    expect(idle).toEqual([]);
  });

  it("are run by one test file of tests/real/docs for each document", () => {
    const folder = `${root}tests/real/docs/`;
    const files = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
    const described = files.flatMap((name) =>
      [...readFileSync(folder + name, "utf8").matchAll(/^describeDocument\("(.+)"\);$/gm)].map(([, path]) => path),
    );
    expect(described.sort()).toEqual([...run].sort());
    expect(files).toHaveLength(run.size);
  });

  it("can be read as commands", () => {
    for (const block of blocks.filter(isShell)) expect(commandsOf(block), `${block.document}:${block.line}`).not.toEqual([]);
  });
});

describe("problemOf", () => {
  const isRun = { isRun: true, root };
  const notRun = { isRun: false, root };

  it.each([
    ["a block that nothing runs", `${fence}sh\nls\n${fence}`, notRun, "no test runs this block"],
    ["a reason that says nothing", `<!-- not run: cannot -->\n${fence}sh\nls\n${fence}`, isRun, "is no reason"],
    ["a test that does not exist", `<!-- run by: tests/none.test.ts -->\n${fence}sh\nls\n${fence}`, isRun, "does not exist"],
    [
      "a subcommand that the named test does not run",
      `<!-- run by: tests/real/podPorts.test.ts -->\n${fence}sh\nkubectl rollback x\n${fence}`,
      notRun,
      "does not run rollback:",
    ],
    [
      "a flag that the named test does not use",
      `<!-- run by: tests/real/charts/installation.test.ts -->\n${fence}sh\nhelm upgrade x --take-ownership\n${fence}`,
      notRun,
      "does not run --take-ownership",
    ],
    ["a comment of another kind", `<!-- skip: needs a load balancer -->\n${fence}sh\nls\n${fence}`, isRun, "unknown comment"],
    ["commands in another language", `${fence}bash\nls\n${fence}`, isRun, "use sh"],
    ["commands without a language", `${fence}\nkubectl get pods\n${fence}`, isRun, "these are commands"],
    [
      "a reason for what is no command",
      `<!-- not run: needs a load balancer -->\n${fence}yaml\na: 1\n${fence}`,
      isRun,
      "is for blocks of commands",
    ],
  ])("refuses %s", (_, markdown, options, problem) => {
    expect(problemOf(only(markdown), options)).toContain(problem);
  });

  it.each([
    ["a block of a document that is run", `${fence}sh\nls\n${fence}`, isRun],
    ["a reason", `<!-- not run: needs a load balancer -->\n${fence}sh\nls\n${fence}`, notRun],
    ["another test", `<!-- run by: tests/documents/blocks.test.ts -->\n${fence}sh\nls\n${fence}`, notRun],
    ["the usage of a program", `${fence}\nUsage: meshctl\nmeshctl get\n${fence}`, notRun],
  ])("accepts %s", (_, markdown, options) => {
    expect(problemOf(only(markdown), options)).toBeUndefined();
  });
});

describe("commandsOf", () => {
  it("splits a console block into commands and what they print", () => {
    const text = "$ a \\\n  b\none\ntwo\n$ c <<E\n$ d\nE\n$ e |\n    f\nthree";
    expect(commandsOf(only(`${fence}console\n${text}\n${fence}`))).toEqual([
      { text: "a \\\n  b", output: "one\ntwo" },
      { text: "c <<E\n$ d\nE", output: undefined },
      { text: "e |\n    f", output: "three" },
    ]);
  });

  it("takes each line of a sh block but comments", () => {
    expect(commandsOf(only(`${fence}sh\n# first\na\n\nb # second\n${fence}`)).map(({ text }) => text)).toEqual(["a", "b # second"]);
  });
});

describe("differenceOf", () => {
  it.each([
    [
      "times and ages",
      "NAME   AGE\neast   12s\n✓ pods 0.4 s until 2026-01-01T00:00:00.000Z",
      "NAME AGE\neast 3m4s\n✓ pods 11.0 s until 2027-02-02T01:02:03.004Z",
    ],
    ["addresses", "at 203.0.113.7:9900", "at 127.8.1.2:9900"],
    ["lines that are left out", "first\n…\nlast", "first\nsecond\nthird\nlast"],
    ["a part of a line that is left out", "state … done", "state 7 of 8 done"],
  ])("does not see %s", (_, shown, printed) => {
    expect(differenceOf(shown, printed)).toBeUndefined();
  });

  it.each([
    ["another word", "state ACCEPTED", "state INVALID"],
    ["another count", "3 objects read", "4 objects read"],
    ["a line too much", "first", "first\nsecond"],
    ["a line that is missing", "first\n…\nlast", "first\nsecond"],
  ])("sees %s", (_, shown, printed) => {
    expect(differenceOf(shown, printed)).toContain("printed:");
  });
});
