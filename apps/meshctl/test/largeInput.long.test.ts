import { describe, expect, it } from "vitest";
import { parseDocuments } from "../src/offline/documents.ts";
import { parseTemplate } from "../src/output/jsonPath/parseTemplate.ts";
import { templateText } from "../src/output/jsonPath/templateText.ts";

const parse = (text: string) => parseDocuments({ name: "in.yaml", text });
const text = (template: string, data: unknown) => templateText(parseTemplate(template), data);

describe("parseDocuments", () => {
  it("says where a document is wrong, or what is rare in it, that is too large to be read slowly", () => {
    const large = `a:\n${`  - ${"x".repeat(9_000)}\n`.repeat(1_000)}`;
    expect(parse(`${large}b: 'x\n`).unreadable).toEqual([expect.objectContaining({ number: 1, line: 1_003 })]);
    expect(parse(`${large}b: &x 1\n`).unreadable).toEqual([
      expect.objectContaining({ line: 1, problem: expect.stringContaining("is larger than 8 MiB and has anchors") }),
    ]);
    expect(parse(large).documents).toHaveLength(1);
  });
});

describe("a JSONPath template", () => {
  it("ends where it would not fit in memory", () => {
    const wide = Array.from({ length: 300 }, () => Array.from({ length: 30 }, () => ["x"]));
    expect(() => text("{.a[*]..[*]..}", { a: Array.from({ length: 300 }, () => wide) })).toThrow("visits too many values");
    const long = { a: Array.from({ length: 3_000 }, () => "x".repeat(100_000)) };
    expect(() => text("{.a[*]}", long)).toThrow("yields too much text");
  });
});
