// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the templates are the source text under test.
import { expect, test } from "vitest";
import { commentsOf, titlesOf } from "./commentsOf.ts";

const words = (text: string): readonly string[] => commentsOf("a.ts", text).match(/[a-z]+/g) ?? [];

test("comments are what is not code, each character in its place", () => {
  const text = "const a = 1; // one\n/** two\n * three */\nf(/* four */ b);";
  expect(words(text)).toEqual(["one", "two", "three", "four"]);
  expect(commentsOf("a.ts", text)).toHaveLength(text.length);
  expect(commentsOf("a.ts", text).indexOf("three")).toBe(text.indexOf("three"));
});

test("a sentence goes over several lines, and not beyond its comment", () => {
  expect(commentsOf("a.ts", "// is\n  // away")).toMatch(/is\s+away/);
  expect(commentsOf("a.ts", "/**\n * is\n * away */")).toMatch(/is\s+away/);
  expect(commentsOf("a.ts", "a; // is\nb; // away")).not.toMatch(/is\s+away/);
});

test.each(['"// no"', "`// no ${a} // no`", "/\\/\\/ no/", '"\\"// no"', "`${`// no`}`", "/* `no` */ 1"])("no comment is %s", (text) => {
  expect(words(`x(${text});`)).toEqual([]);
});

test("a comment after a text that looks like one is seen", () => {
  expect(words('x("// a", `/* ${b}`); // one')).toEqual(["one"]);
});

test("titles are those of tests and their groups, however they are called", () => {
  const text =
    'test("a", f); it.each(rows)("b", f); describe.skipIf(x)(`c ${d}`, f); test.for(e)("f", { timeout: 1 }, g); other("no"); it(name, f);';
  expect(titlesOf("a.test.ts", text).map(({ title }) => title)).toEqual(['"a"', '"b"', "`c ${d}`", '"f"']);
});
