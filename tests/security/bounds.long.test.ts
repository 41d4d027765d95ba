import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { parseSource } from "../../tools/importsOf.ts";
import { placeOf, readSourceTree } from "../../tools/sourceTree.ts";
import { BOUNDS, MOST_OF_UNIT, OTHER_STORES } from "./harness/bounds.ts";

// Packages that no program of a production plane contains.
const ELSEWHERE = new Set(["testing", "simulator", "playground"]);
const NAME = /^(MOST|MAX)(_[A-Z0-9_]+)?$/;

interface Found {
  readonly path: string;
  readonly name: string;
  /** Undefined: it is put together of others. */
  readonly value: number | undefined;
}

const tree = readSourceTree(fileURLToPath(new URL("../..", import.meta.url)));

/** Every constant that says of what there is a most, in the sources of packages and apps. */
function found(): readonly Found[] {
  const all: Found[] = [];
  for (const [path, text] of tree) {
    const { kind, name, inside, isTest } = placeOf(path);
    if (kind === "project" || isTest || ELSEWHERE.has(name) || !/^(src|client)\//.test(inside) || !/\.tsx?$/.test(path)) continue;
    if (inside.includes("/gen/")) continue;
    for (const statement of parseSource(path, text).statements) {
      if (!ts.isVariableStatement(statement)) continue;
      for (const { name: declared, initializer } of statement.declarationList.declarations) {
        if (ts.isIdentifier(declared) && NAME.test(declared.text)) all.push({ path, name: declared.text, value: numberOf(initializer) });
      }
    }
  }
  return all;
}

/** Of numbers and what is computed of them. */
function numberOf(node: ts.Expression | undefined): number | undefined {
  if (node === undefined) return undefined;
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (!ts.isBinaryExpression(node)) return undefined;
  const [left, right] = [numberOf(node.left), numberOf(node.right)];
  if (left === undefined || right === undefined) return undefined;
  switch (node.operatorToken.kind) {
    case ts.SyntaxKind.AsteriskToken:
      return left * right;
    case ts.SyntaxKind.AsteriskAsteriskToken:
      return left ** right;
    case ts.SyntaxKind.PlusToken:
      return left + right;
    case ts.SyntaxKind.MinusToken:
      return left - right;
    case ts.SyntaxKind.LessThanLessThanToken:
      return left << right;
    default:
      return undefined;
  }
}

const all = found();
const nameOf = ({ path, name }: Found) => `${path}: ${name}`;

describe("bounds on memory", () => {
  test("are all judged: measured where what they bound outlives a call, else of a unit", () => {
    expect(all.length).toBeGreaterThan(300);
    const unjudged = all.filter(({ path, name }) => BOUNDS[path]?.[name] === undefined);
    expect(
      unjudged.map(
        (one) =>
          `${nameOf(one)}: name it in tests/security/harness/bounds.ts: stored("title of a test that fills it"), or the unit of one call`,
      ),
    ).toEqual([]);
    const known = new Set(all.map(nameOf));
    const listed = Object.entries(BOUNDS).flatMap(([path, names]) => Object.keys(names).map((name) => `${path}: ${name}`));
    expect(listed.filter((one) => !known.has(one))).toEqual([]);
  });

  test("of one call are no larger than their unit", () => {
    const beyond = all.filter(({ path, name, value }) => {
      const bound = BOUNDS[path]?.[name];
      return bound?.type === "call" && value !== undefined && value > MOST_OF_UNIT[bound.unit];
    });
    expect(beyond.map(nameOf)).toEqual([]);
    const times = all.filter(({ path, name }) => {
      const bound = BOUNDS[path]?.[name];
      return bound?.type === "call" && (bound.unit === "ms") !== /_MS$/.test(name) && bound.unit !== "reader";
    });
    expect(times.map(nameOf)).toEqual([]);
  });

  test("of what outlives a call have the test that measures them", () => {
    const tests = [...tree].filter(([path]) => /^(packages|apps)\/[^/]+\/test\/.*\.test\.ts$/.test(path)).map(([, text]) => text);
    const measured = tests.filter((text) => /\bheld(By|Bytes)\(/.test(text)).join("\n");
    const named = Object.values(BOUNDS).flatMap((names) =>
      Object.values(names).flatMap((bound) => (bound.type === "stored" ? [bound.test] : [])),
    );
    expect(named.length).toBeGreaterThan(20);
    expect([...new Set([...named, ...Object.values(OTHER_STORES)])].filter((title) => !measured.includes(`"${title}"`))).toEqual([]);
  });
});
