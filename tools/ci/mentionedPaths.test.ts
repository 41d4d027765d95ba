import { expect, it } from "vitest";
import { mentionedPaths } from "./mentionedPaths.ts";

const PROJECT = [
  "apps",
  "apps/agent/bin/agent.js",
  "deploy/helm",
  "docs",
  "docs/registration.md",
  "package.json",
  "tests/real",
  "tests/real/python/client.py",
];
const exists = (path: string): boolean => PROJECT.some((one) => one === path || one.startsWith(`${path}/`));
const mentioned = (text: string, path = "tests/real/harness/apps.ts") => mentionedPaths(path, text, exists);

it("finds what is named from the file itself, from the root and from a folder at hand", () => {
  expect(mentioned('const CHARTS = fileURLToPath(new URL("../../../deploy/helm", import.meta.url));').paths).toEqual(["deploy/helm"]);
  expect(mentioned('run(join(root, "apps/agent/bin/agent.js"));').paths).toEqual(["apps/agent/bin/agent.js"]);
  expect(mentioned('run(join(root, "apps", "agent", name));').paths).toEqual(["apps/agent"]);
  expect(mentioned('const client = new URL("../python/client.py", import.meta.url);').paths).toEqual(["tests/real/python/client.py"]);
  expect(mentioned("read(`$" + "{root}/docs/registration.md`);").paths).toEqual(["docs/registration.md"]);
  expect(mentioned("read(`docs/registration.md`);").paths).toEqual(["docs/registration.md"]);
});

it("takes a word for a folder only where the root is at hand", () => {
  const words = 'for (const name of ["apps", "docs"]) link(name);';
  expect(mentioned(words).paths).toEqual([]);
  const root = 'const root = fileURLToPath(new URL("../../..", import.meta.url));';
  expect(mentioned(`${root}${words}`).paths).toEqual(["apps", "docs"]);
  expect(mentioned(`const root = join(dirname(fileURLToPath(import.meta.url)), "..");${words}`, "tools/tree.mjs").paths).toEqual([
    "apps",
    "docs",
  ]);
});

it("does not take the folders that it is in, nor what it imports, for what it reads", () => {
  expect(mentioned('const here = new URL("..", import.meta.url); import { a } from "../python/client.py";').paths).toEqual([]);
});

it("says that it cannot know what is imported by a name that is made when it runs", () => {
  expect(mentioned('await import("../python/client.py");').unsure).toBeUndefined();
  expect(mentioned("await import(path);").unsure).toContain("tests/real/harness/apps.ts");
});
