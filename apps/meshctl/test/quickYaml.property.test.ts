import { yamlDocuments } from "@isthmus/core/yaml";
import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, type Pair, stringify as yamlStringify } from "yaml";
import { offsetIn } from "../src/offline/yaml/eventLines.ts";
import { jsonItemOffsets } from "../src/offline/yaml/jsonItems.ts";
import { lineLookup } from "../src/offline/yaml/lines.ts";
import { quickList } from "../src/offline/yaml/quickList.ts";
import { quickYaml } from "../src/offline/yaml/quickYaml.ts";
import { splitYaml } from "../src/offline/yaml/splitYaml.ts";

// What YAML is made of, right and wrong alike: nearly every text has something in it that one of the readers stumbles over.
const FRAGMENTS = [
  ...[
    "a",
    "b",
    "é",
    "x y",
    "x #y",
    "x: y",
    "10.0.0.1",
    "2024-01-01",
    "true",
    "No",
    "~",
    "null",
    "1",
    "0x1",
    "1e3",
    "-1",
    ".5",
    "0o7",
    ".inf",
  ],
  ...[
    "c: ",
    "d: ",
    "key: ",
    "items:\n",
    "kind: List\n",
    "items:\n- a: 1\n",
    "- a: 1\n  b: 2\n",
    "{a, b: }",
    "[a: 1]",
    "[1, {b: 2}]",
    "{}",
    "[]",
  ],
  ...["- ", "- ", "  ", "  ", "    ", "\n", "\n", "\n  ", "\n  ", "\n- ", "\n  - ", "\n    ", "\n\n", "   \n", "\r\n", " \t"],
  ...["'", '"', "'it''s'", '"q\\\n  r"', '"é\\n"', "\\x41", "#", " #", "# c\n", "|\n", "|-\n", ">+\n", ">2\n", "|1-\n"],
  ...["[", "]", "{", "}", ",", ": ", ":", "? ", "?", "-", "\n---\n", "--- ", "---\n", "\n...\n", "&x ", "*x", "!!str ", "!t ", "%", "<<: "],
  ...["\u0085", "\u2028", "\ufeff", "\0", "@", "`", "1_000", "+1", "012", "1.", "="],
];
const yamlText = fc.array(fc.constantFrom(...FRAGMENTS), { minLength: 1, maxLength: 16 }).map((fragments) => fragments.join(""));

// What objects are made of: nearly every text is right.
const word = fc.constantFrom(
  "a",
  "name",
  "true",
  "1",
  "5s",
  "x: y",
  "# no",
  "it's",
  '"',
  "",
  " ",
  "two\nlines\n",
  "- x",
  "é",
  "0x1",
  "null",
  "*",
  "items",
);
const json = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, word, fc.integer(), fc.boolean(), fc.constant(null), tie("list"), tie("map")),
  list: fc.array(tie("value"), { maxLength: 3 }),
  map: fc.dictionary(word, tie("value"), { maxKeys: 4 }),
}));

interface Reading {
  readonly values: readonly unknown[];
  readonly isRight: boolean;
  readonly documents: readonly Document.Parsed[];
  readonly lines: LineCounter;
}

/** A text as the library reads it that every other text of ours is read with. */
function slowly(text: string): Reading {
  const lines = new LineCounter();
  try {
    const documents = yamlDocuments(text, { lineCounter: lines, merge: true, prettyErrors: false, stringKeys: true });
    const values = documents.map((document): unknown => (document.errors.length > 0 ? undefined : (document.toJS() ?? null)));
    return { values, isRight: documents.every(({ errors }) => errors.length === 0), documents, lines };
  } catch {
    return { values: [], isRight: false, documents: [], lines };
  }
}

test("a text is right as a whole if each of its documents is, and they are the same", () => {
  fc.assert(
    fc.property(yamlText, (text) => {
      const pieces = splitYaml(text);
      if (pieces === undefined) return;
      for (const piece of pieces)
        expect(
          text
            .split("\n")
            .slice(piece.line - 1)
            .join("\n")
            .startsWith(piece.text),
        ).toBe(true);
      const whole = slowly(text);
      const parts = pieces.map((piece) => slowly(piece.text));
      expect(parts.every(({ isRight }) => isRight)).toBe(whole.isRight);
      if (whole.isRight) expect(parts.flatMap(({ values }) => values)).toEqual(whole.values);
    }),
    { numRuns: runs(3_000) },
  );
});

test.each([
  ["quickYaml", quickYaml],
  ["quickList", (text: string) => quickList(text)],
])("what %s reads is right, and the same", (_, quick) => {
  fc.assert(
    fc.property(yamlText, (text) => {
      for (const piece of splitYaml(text) ?? []) {
        const read = quick(piece.text);
        if (read === undefined) continue;
        const { values, isRight } = slowly(piece.text);
        expect({ isRight, value: values.length > 1 ? values : (values[0] ?? null) }).toEqual({ isRight: true, value: read.value ?? null });
      }
    }),
    { numRuns: runs(3_000) },
  );
});

test("what kubectl could print is read, by each of the readers, to the same value and the same lines", () => {
  fc.assert(
    fc.property(fc.array(json.map, { minLength: 1, maxLength: 3 }), fc.integer({ min: 20, max: 80 }), (items, width) => {
      const list = { apiVersion: "v1", items, kind: "List" };
      const text = printed(list, width);
      const slow = slowly(text);
      expect(slow.values).toEqual([list]);
      for (const read of [quickYaml(text), quickList(text)]) {
        expect(read?.value).toEqual(list);
        for (const path of pathsOf(list)) {
          expect({ path, line: lineLookup(text)(offsetIn(text, read ?? { itemOffsets: [] }, path)) }).toEqual({
            path,
            line: lineOf(slow, path),
          });
        }
      }
    }),
    { numRuns: runs(200) },
  );
});

test("members of JSON are found on their lines, whether or not they are of a List", () => {
  fc.assert(
    fc.property(
      fc.array(json.map, { maxLength: 3 }),
      fc.constantFrom("items", "others"),
      fc.constantFrom(undefined, 2),
      (items, key, indent) => {
        const value = { apiVersion: "v1", metadata: { items: [[], "items"] }, [key]: items, kind: "List" };
        const text = JSON.stringify(value, undefined, indent);
        const slow = slowly(text);
        const itemOffsets = jsonItemOffsets(text);
        expect(itemOffsets).toHaveLength(key === "items" && items.length > 0 ? items.length + 1 : 0);
        for (const path of pathsOf(value)) {
          expect({ path, line: lineLookup(text)(offsetIn(text, { itemOffsets }, path)) }).toEqual({ path, line: lineOf(slow, path) });
        }
      },
    ),
    { numRuns: runs(200) },
  );
});

/** Block style with plain texts wherever they can be, as Go's library prints it. */
function printed(value: unknown, lineWidth: number): string {
  return yamlStringify(value, { lineWidth, indentSeq: false, blockQuote: "literal" });
}

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const members = Object.entries(value).flatMap(([key, member]) => pathsOf(member, [...path, Array.isArray(value) ? Number(key) : key]));
  return [path, ...members];
}

/** The line as the library's own tree has it. */
function lineOf({ documents, lines }: Reading, path: Path): number {
  let node: unknown = documents[0]?.contents;
  let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
  for (const step of path) {
    const { key, value }: Partial<Pair> = isMap(node)
      ? (node.items.find((pair) => isScalar(pair.key) && pair.key.value === step) ?? {})
      : {};
    node = isSeq(node) ? node.get(step, true) : value;
    const begin = isNode(key) ? key : node;
    if (isNode(begin)) offset = begin.range?.[0] ?? offset;
  }
  return lines.linePos(offset).line;
}
