import { describe, expect, it } from "vitest";
import { checkSizes } from "./checkSizes.ts";

const lines = (count: number): string => "const x = 1;\n".repeat(count);

function problemsIn(files: Readonly<Record<string, string>>): readonly string[] {
  return checkSizes(new Map(Object.entries(files))).problems;
}

/** `count` files of `size` lines, spread over ten folders. */
function files(count: number, size: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`packages/core/src/folder${i % 10}/file${i}.ts`, lines(size)]));
}

describe("checkSizes", () => {
  it("accepts files within the budgets, at their limits", () => {
    expect(problemsIn(files(20, 120))).toEqual([]);
    expect(problemsIn({ ...files(38, 120), "packages/core/src/a.ts": lines(350), "packages/core/src/b.ts": lines(500) })).toEqual([]);
  });

  it("refuses a median, a tail and a file above them", () => {
    expect(problemsIn(files(3, 121))).toEqual([expect.stringContaining("the median file has 121 lines")]);
    const tail = { ...files(18, 10), "packages/core/src/a.ts": lines(351), "packages/core/src/b.ts": lines(351) };
    expect(problemsIn(tail)).toEqual([expect.stringContaining("one file in twenty has 351 lines")]);
    expect(problemsIn({ ...files(40, 10), "packages/core/src/long.ts": lines(501) })).toEqual([
      "packages/core/src/long.ts: 501 lines, above 500: its stage is cut wrongly",
    ]);
  });

  it("refuses more than 40 files in a folder, not counting those of folders below", () => {
    const flat = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`apps/ui/client/model/file${i}.ts`, lines(1)]));
    expect(problemsIn({ ...flat(40), ...files(400, 1) })).toEqual([]);
    expect(problemsIn({ ...flat(41), "apps/ui/client/model/below/a.ts": lines(1) })).toEqual([
      "apps/ui/client/model: 41 files, above 40: give those about one thing a folder of their own",
    ]);
  });

  it("refuses a function of more than 150 lines, and a list of longer ones that is not true", () => {
    const body = (count: number) => "  x();\n".repeat(count);
    const text = `export function long(): void {\n${body(148)}}\nexport const other = () => {\n${body(149)}};\n`;
    expect(problemsIn({ ...files(1, 1), "packages/core/src/a.ts": text, "packages/core/test/a.test.ts": text })).toEqual([
      "packages/core/src/a.ts:151: a function of 151 lines, above 150: give what it does by steps functions of their own",
    ]);
    const shorter = { ...files(400, 1), "packages/plane/src/apply/applier.ts": `export function startApplier(): void {\n${body(200)}}\n` };
    expect(problemsIn(shorter)).toEqual([
      expect.stringMatching(
        /^tools\/longFunctions\.ts: packages\/plane\/src\/apply\/applier\.ts startApplier is 202 lines long now, not \d+: correct the list$/,
      ),
    ]);
  });

  it("refuses AbortSignal.timeout", () => {
    const text = "export const signal = AbortSignal.timeout(1);";
    expect(problemsIn({ ...files(1, 1), "packages/core/src/a.ts": text, "packages/core/test/a.test.ts": text })).toEqual([
      expect.stringContaining("packages/core/src/a.ts: AbortSignal.timeout"),
    ]);
  });

  it("counts neither tests nor tools", () => {
    const long = lines(600);
    const uncounted = { "packages/core/test/long.ts": long, "packages/core/src/long.test.ts": long, "tools/long.ts": long };
    expect(problemsIn({ ...files(1, 10), ...uncounted })).toEqual([]);
  });

  it("counts the type any, not the word", () => {
    const text = `// any\nconst text = "any";\n${lines(998)}`;
    expect(problemsIn({ ...files(20, 1), "packages/core/src/a.ts": text })).toContainEqual(
      expect.stringContaining("1000 lines, above 500"),
    );
    expect(problemsIn({ "packages/core/src/a.ts": "export const x: any = 1;" })).toEqual([expect.stringContaining("1 `any` in 1 lines")]);
  });

  it.each(["export default 1;", "export default function f() {}", "export { x as default };", 'export { default } from "./y.ts";'])(
    "refuses the default export %s",
    (text) => {
      expect(problemsIn({ "packages/core/src/a.ts": text })).toEqual([expect.stringContaining("packages/core/src/a.ts:1: default export")]);
    },
  );

  it("lets a configuration file have the default export that its tool wants", () => {
    expect(problemsIn({ ...files(1, 1), "vitest.config.ts": "export default {};" })).toEqual([]);
  });

  it.each(["utils", "helpers", "common", "manager", "util", "Helper"])("refuses a file named %s", (name) => {
    expect(problemsIn({ ...files(1, 1), [`apps/agent/src/${name}.ts`]: "" })).toEqual([
      expect.stringContaining("named after its main export"),
    ]);
  });

  it("lets index.ts re-export and list, and nothing else", () => {
    const list =
      'import { a } from "./a.ts";\nexport * from "./b.ts";\nexport const all: readonly A[] = [a, ...b];\nexport const few = [{ name: "a", a, run: b, first: true }] as const;';
    expect(problemsIn({ "packages/core/src/index.ts": list })).toEqual([]);
    for (const text of [
      "export function f() {}",
      "export const x = 1;",
      "export const all = [() => 1];",
      "export const all = [{ run: () => 1 }];",
      "f();",
    ]) {
      expect(problemsIn({ "packages/core/src/index.ts": text })).toEqual([expect.stringContaining("index.ts re-exports or lists")]);
    }
  });

  it("does not pass where it saw nothing", () => {
    expect(problemsIn({})).toEqual(["no source file was found"]);
  });
});
