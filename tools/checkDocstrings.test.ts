import { describe, expect, it } from "vitest";
import { checkDocstrings } from "./checkDocstrings.ts";

const PATH = "packages/core/src/a.ts";

function problemsIn(text: string, path = PATH): readonly string[] {
  return checkDocstrings(new Map([[path, text]])).problems;
}

describe("checkDocstrings", () => {
  it.each([
    ["function f() {}"],
    ["async function f() {}"],
    ["function* f() {}"],
    ["class f {}"],
    ["abstract class f {}"],
    ["const f = () => 1;"],
    ["const f = function () {};"],
    ["const f = class {};"],
  ])("refuses export %s without a docstring, and accepts it with one", (code) => {
    expect(problemsIn(`const a = 1;\n\nexport ${code}\n`)).toEqual([
      expect.stringMatching(/^packages\/core\/src\/a\.ts:3: f: no docstring/),
    ]);
    expect(problemsIn(`const a = 1;\n\n/** Gives one. */\nexport ${code}\n`)).toEqual([]);
  });

  it("names each function that lacks one, with its line", () => {
    const problems = problemsIn("/** First. */\nexport function f() {}\nexport function g() {}\n\nexport class H {}\n");
    expect(problems.map((problem) => problem.split(": ").slice(0, 2))).toEqual([
      [`${PATH}:3`, "g"],
      [`${PATH}:5`, "H"],
    ]);
  });

  it("refuses a default export without one", () => {
    expect(problemsIn("export default function () {}")).toEqual([expect.stringContaining(`${PATH}:1: default: no docstring`)]);
  });

  it("refuses what is exported apart from its declaration", () => {
    expect(problemsIn("function f() {}\nfunction g() {}\nexport { f as h };")).toEqual([
      expect.stringContaining(`${PATH}:1: f: no docstring`),
    ]);
  });

  it.each([
    ["a line comment", "// Gives one.\nexport function f() {}"],
    ["a comment that is no docstring", "/* Gives one. */\nexport function f() {}"],
    ["the head of the file", "/** About this file. */\n\nexport function f() {}"],
    ["a docstring that another comment follows", "/** Gives one. */\n// biome-ignore lint: a reason\nexport function f() {}"],
    ["a docstring of what is before", "/** One. */\nconst one = 1;\nexport function f() {}"],
    ["a docstring inside", "export function f() {\n  /** Gives one. */\n  return 1;\n}"],
  ])("does not take %s for a docstring", (_, text) => {
    expect(problemsIn(text)).toEqual([expect.stringContaining("f: no docstring directly above it")]);
  });

  it.each(["/** */", "/**\n * \n */"])("refuses the empty docstring %j", (comment) => {
    expect(problemsIn(`${comment}\nexport function f() {}`)).toEqual([expect.stringContaining("f: its docstring is empty")]);
  });

  it("accepts a docstring of several lines, and the last of two comments", () => {
    expect(problemsIn("/** About this file. */\n\n/**\n * Gives one.\n */\nexport function f() {}")).toEqual([]);
  });

  it("counts overloads once, by the first", () => {
    const overloads = (above: string) =>
      `${above}export function f(a: string): void;\nexport function f(a: number): void;\nexport function f(a: unknown): void {}`;
    expect(problemsIn(overloads("/** Takes both. */\n"))).toEqual([]);
    expect(problemsIn(overloads(""))).toEqual([expect.stringContaining(`${PATH}:1: f: no docstring`)]);
    expect(checkDocstrings(new Map([[PATH, overloads("")]])).summary).toBe("1 exported functions and classes");
  });

  it.each(["apps/ui/src/x/a.tsx", "packages/core/src/x/a.ts"])("looks at %s", (path) => {
    expect(problemsIn("export function f() {}", path)).toHaveLength(1);
  });

  it.each([
    "packages/core/src/a.test.ts",
    "packages/core/test/a.ts",
    "packages/relay/src/gen/a.ts",
    "packages/core/bench/a.ts",
    "packages/core/vitest.config.ts",
    "tests/real/a.ts",
    "tools/a.ts",
  ])("leaves %s alone", (path) => {
    const tree = new Map([
      [path, "export function f() {}"],
      [PATH, "/** Gives one. */\nexport function g() {}"],
    ]);
    expect(checkDocstrings(tree).problems).toEqual([]);
  });

  it.each([
    "function f() {}",
    "export const f = 1;",
    "export interface F {}",
    "export type F = () => void;",
    'export { f } from "./b.ts";',
    'function f() {}\nexport { f } from "./b.ts";',
  ])("asks for none above %j", (text) => {
    expect(problemsIn(`/** Gives one. */\nexport function one() {}\n${text}`)).toEqual([]);
  });

  it("does not pass where it saw nothing", () => {
    expect(checkDocstrings(new Map()).problems).toEqual(["no exported function or class was found"]);
  });
});
