import { fileURLToPath } from "node:url";
import { growthOf, MOST_GROWTH, PATIENCE_MS, sampled } from "@isthmus/testing";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { parseSource } from "../../tools/importsOf.ts";
import { placeOf, readSourceTree } from "../../tools/sourceTree.ts";
import { REGULAR_EXPRESSIONS, type Sees } from "./harness/regularExpressions.ts";

interface Found {
  readonly path: string;
  /** As it stands in the source. */
  readonly text: string;
  /** Undefined for one that is put together when the program runs: it is measured beside its code. */
  readonly expression: RegExp | undefined;
}

// Packages that no program of a production plane contains.
const ELSEWHERE = new Set(["testing", "simulator", "playground"]);

/** Every regular expression in the sources of packages and apps. */
function found(): readonly Found[] {
  const all: Found[] = [];
  for (const [path, text] of readSourceTree(fileURLToPath(new URL("../..", import.meta.url)))) {
    const { kind, name, inside, isTest } = placeOf(path);
    if (kind === "project" || isTest || ELSEWHERE.has(name) || !/^(src|client)\//.test(inside) || !path.endsWith(".ts")) continue;
    const source = parseSource(path, text);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf("/");
        all.push({ path, text: node.text, expression: new RegExp(node.text.slice(1, end), node.text.slice(end + 1)) });
      } else if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText(source) === "RegExp") {
        all.push({ path, text: node.getText(source), expression: undefined });
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return all;
}

function seenBy({ path, text }: Found): Sees | undefined {
  return REGULAR_EXPRESSIONS[path]?.[text];
}

/** Below it, even what grows with the square takes microseconds. */
const SHORT = 4_096;
function run(expression: RegExp, text: string): void {
  if (expression.global) text.replaceAll(expression, "");
  else expression.exec(text);
}

const all = found();

describe("regular expressions", () => {
  test("are all judged: what they see, and how long it can be", () => {
    expect(all.length).toBeGreaterThan(50);
    expect(all.filter((one) => seenBy(one) === undefined).map(({ path, text }) => `${path}: ${text}`)).toEqual([]);
    const known = new Set(all.map(({ path, text }) => `${path}: ${text}`));
    const listed = Object.entries(REGULAR_EXPRESSIONS).flatMap(([path, texts]) => Object.keys(texts).map((text) => `${path}: ${text}`));
    expect(listed.filter((one) => !known.has(one))).toEqual([]);
  });

  const measured = all.flatMap((one) => {
    const sees = seenBy(one);
    return sees !== undefined && "bound" in sees && sees.bound >= SHORT && one.expression !== undefined
      ? [[`${one.path}: ${one.text}`, one.expression, sees.worst] as const]
      : [];
  });
  test.each(sampled(measured))(
    "take no longer for each letter of a longer text: %s",
    (_, expression, worst) => {
      expect(growthOf((text) => run(expression, text), worst)).toBeLessThan(MOST_GROWTH);
    },
    PATIENCE_MS,
  );

  test(
    "would be found out here, if they took longer",
    () => {
      // Grows by 64 where a quadratic one grows by 16.
      const cubic = /([\w.-]+)([\w.-]+)(\s*[:=]\s*)/g;
      expect(
        growthOf(
          (text) => run(cubic, text),
          (length) => "a".repeat(length / 256),
        ),
      ).toBeGreaterThan(MOST_GROWTH);
    },
    PATIENCE_MS,
  );
});
