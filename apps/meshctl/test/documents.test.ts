import { describe, expect, it } from "vitest";
import { parseDocuments } from "../src/offline/documents.ts";
import { splitJson } from "../src/offline/splitJson.ts";
import { unfold } from "../src/offline/unfold.ts";

const parse = (text: string) => parseDocuments({ name: "in.yaml", text });
const objectsIn = (text: string) => parse(text).documents.flatMap((document) => unfold(document).objects);
const unreadableIn = (text: string) => parse(text).documents.flatMap((document) => unfold(document).unreadable);

describe("parseDocuments", () => {
  it("reads documents, counts empty ones and leaves them out", () => {
    const { documents, unreadable } = parse("---\n# nothing\n---\na: 1\n---\n---\nb: [x, y]\n");
    expect(unreadable).toEqual([]);
    expect(documents.map(({ number, value }) => ({ number, value }))).toEqual([
      { number: 2, value: { a: 1 } },
      { number: 4, value: { b: ["x", "y"] } },
    ]);
  });

  it("finds the line of a field, and of its nearest known ancestor", () => {
    const [, second] = parse("a: 1\n---\nspec:\n  meshes:\n  - name: x\n  - name: y\n").documents;
    expect(second?.lineOf([])).toBe(3);
    expect(second?.lineOf(["spec", "meshes", 1, "name"])).toBe(6);
    expect(second?.lineOf(["spec", "meshes", 7, "name"])).toBe(4);
  });

  it.each([
    ["a: [1\n", 2],
    ["a: 1\n---\n\ta: 1\n", 3],
    ["a: 1\na: 2\n", 2],
    ["a: *nothing\n", 1],
    ["a: &x 1\nb: *x\nc:\n  d: [1, *q]\ne: *r\n", 4],
    ["a: 1\nb\n", 2],
  ])("says where %j is wrong", (text, line) => {
    expect(parse(text).unreadable).toEqual([expect.objectContaining({ file: "in.yaml", line })]);
  });

  it("continues after an unreadable document", () => {
    const { documents, unreadable } = parse("a: 'x\n---\nb: 1\n");
    expect(documents.length + unreadable.length).toBeGreaterThan(0);
    const later = parse("a: 1\n---\na: 1\na: 2\n---\nc: 3\n");
    expect(later.documents.map(({ number }) => number)).toEqual([1, 3]);
    expect(later.unreadable).toEqual([expect.objectContaining({ number: 2 })]);
  });

  it("refuses aliases that would fill the memory", () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) =>
        `l${i}: &l${i} [${Array(12)
          .fill(i === 0 ? "x" : `*l${i - 1}`)
          .join(", ")}]`,
    );
    expect(parse(levels.join("\n")).unreadable).toHaveLength(1);
  });

  it("knows merge keys and keeps times as text", () => {
    const [document] = parse("base: &b {x: 1}\nmore:\n  <<: *b\n  at: 2024-01-01T00:00:00Z\n").documents;
    expect(document?.value).toEqual({ base: { x: 1 }, more: { x: 1, at: "2024-01-01T00:00:00Z" } });
  });

  it("reads JSON, one after the other or as one, and names its lines", () => {
    const { documents } = parse('{"a": 1}\n{\n  "b": {\n    "c": 2 }\n}\n');
    expect(documents.map(({ value }) => value)).toEqual([{ a: 1 }, { b: { c: 2 } }]);
    expect(documents[1]?.lineOf(["b", "c"])).toBe(4);
  });

  it("says where JSON is wrong", () => {
    const text = '{}\n{\n  "a": 1,\n  "b": 2 "c"\n}';
    expect(parseDocuments({ name: "in.json", text }).unreadable).toEqual([expect.objectContaining({ number: 2, line: 4 })]);
  });

  it("takes YAML in flow style for YAML", () => {
    expect(parse("{a: 1, b: [x]}").documents.map(({ value }) => value)).toEqual([{ a: 1, b: ["x"] }]);
  });
});

describe("templates of Helm", () => {
  it.each(["kind: {{ .Values.kind }}\n", "a: 1\nb: {{- if .x }}\n", '{{ include "a" . }}\n', "a:\n  {{- toYaml .x | nindent 2 }}\n"])(
    "are named as such: %j",
    (text) => {
      const { unreadable } = parse(text);
      expect(unreadable.map(({ problem }) => problem)).toEqual([expect.stringContaining("helm template CHART | meshctl validate -")]);
    },
  );

  it("are no other maps", () => {
    expect(parse("a: {{b: 1}: 2}\n").unreadable).toHaveLength(1);
    expect(parse("? [a]\n: 1\n").unreadable).toEqual([expect.objectContaining({ problem: expect.stringContaining("strings") })]);
  });
});

describe("splitJson", () => {
  it("is not misled by brackets and quotes within strings", () => {
    const text = '{"a": "}\\"{"} [1, "]"]';
    expect(splitJson(text)?.map((piece) => piece.text)).toEqual(['{"a": "}\\"{"}', '[1, "]"]']);
  });

  it.each(["", "  \n", "a: 1", '{"a": 1} x', '{"a": 1', "}", "---\n{}"])("leaves %j to the YAML reader", (text) => {
    expect(splitJson(text)).toBeUndefined();
  });
});

describe("unfold", () => {
  it("unfolds Lists at any depth and gives the items of a typed list their type", () => {
    const text = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Service, metadata: {name: a}}
- apiVersion: v1
  kind: List
  items:
  - {apiVersion: v1, kind: Pod, metadata: {name: b}}
---
apiVersion: apps/v1
kind: DeploymentList
items:
- metadata: {name: c}
`;
    const objects = objectsIn(text);
    expect(objects.map(({ value }) => value)).toEqual([
      { apiVersion: "v1", kind: "Service", metadata: { name: "a" } },
      { apiVersion: "v1", kind: "Pod", metadata: { name: "b" } },
      { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "c" } },
    ]);
    expect(objects.map((object) => object.lineOf("metadata.name"))).toEqual([5, 9, 14]);
  });

  it("reads an item of a List by itself that has more to it than others, and all together where they refer to one another", () => {
    const list = (first: string, second: string) => `apiVersion: v1\nitems:\n- a: ${first}\n- a: ${second}\n  b: 1\nkind: List\n`;
    const valuesIn = (text: string) => parse(text).documents.map(({ value }) => value);
    const items = (first: unknown, second: unknown) => [{ apiVersion: "v1", items: [{ a: first }, { a: second, b: 1 }], kind: "List" }];
    expect(valuesIn(list("{x: &x 1, y: *x}", "2"))).toEqual(items({ x: 1, y: 1 }, 2));
    expect(valuesIn(list("&x 1", "*x"))).toEqual(items(1, 1));
    expect(valuesIn(list("{<<: {y: 2}}", "|2-\n      indented"))).toEqual(items({ y: 2 }, "  indented"));
    expect(parse(list("1", "1\n  a: 2")).unreadable).toEqual([expect.objectContaining({ number: 1, line: 5 })]);
    expect(parse(list("*x", "&x 1")).unreadable).toEqual([
      expect.objectContaining({ line: 3, problem: expect.stringContaining("alias *x") }),
    ]);
  });

  it("names the line of each document's mistake, and takes the others, whatever stands before it", () => {
    const { documents, unreadable } = parse("# a\n---\na: 1\n---\na: 1\na: 2\n---\nb: {c: *x}\n---\n\nd: 4\n");
    expect(documents.map(({ number, value }) => ({ number, value }))).toEqual([
      { number: 1, value: { a: 1 } },
      { number: 4, value: { d: 4 } },
    ]);
    expect(documents.map((document) => document.lineOf(["d"]))).toEqual([3, 11]);
    expect(unreadable.map(({ number, line }) => ({ number, line }))).toEqual([
      { number: 2, line: 6 },
      { number: 3, line: 8 },
    ]);
  });

  it.each([
    ["just text", 'is "just text", not an object'],
    ["- a\n- b", "is a list"],
    ["kind: Service\nmetadata: {name: a}", "has no apiVersion"],
    ["apiVersion: v1\nkind: 5", "has no kind"],
    ["apiVersion: v1\nkind: List\nitems: [{kind: Service}]", "has no apiVersion"],
    ["apiVersion: v1\nkind: List\nitems: [null]", "is null"],
  ])("finds %j unreadable", (text, problem) => {
    expect(unreadableIn(text)).toEqual([expect.objectContaining({ number: 1, problem: expect.stringContaining(problem) })]);
  });
});
