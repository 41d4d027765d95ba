import ts from "typescript";
import type { CheckResult } from "./checkResult.ts";
import { parseSource } from "./importsOf.ts";
import { isTypeScript, placeOf, type SourceTree } from "./sourceTree.ts";

/**
 * Refuses an exported function or class of packages and apps without a docstring directly above it. Overloads count once: the docstring
 * stands above the first. Tests and generated files (`gen`) are left out.
 */
export function checkDocstrings(tree: SourceTree): CheckResult {
  const problems: string[] = [];
  let count = 0;
  for (const [path, text] of tree) {
    if (!isDocumented(path)) continue;
    const source = parseSource(path, text);
    for (const { name, node } of declarationsOf(source)) {
      count += 1;
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
      const problem = problemAbove(node, line, source);
      if (problem !== undefined) problems.push(`${path}:${line + 1}: ${name}: ${problem}`);
    }
  }
  // A checker that looks at nothing finds nothing wrong.
  if (count === 0) problems.push("no exported function or class was found");
  return { summary: `${count} exported functions and classes`, problems };
}

function isDocumented(path: string): boolean {
  const { isTest, inside } = placeOf(path);
  return !isTest && isTypeScript(path) && (inside.startsWith("src/") || inside.startsWith("client/")) && !inside.includes("/gen/");
}

interface Declaration {
  readonly name: string;
  readonly node: ts.Statement;
}

/** The exported functions and classes of a file, each name once: the first of its overloads. Constants that hold a function are among them. */
function declarationsOf(source: ts.SourceFile): readonly Declaration[] {
  const exported = exportedLater(source);
  const found = new Map<string, ts.Statement>();
  for (const node of source.statements) {
    for (const name of namesOf(node)) {
      if ((exported.has(name) || isExported(node)) && !found.has(name)) found.set(name, node);
    }
  }
  return [...found].map(([name, node]) => ({ name, node }));
}

/** The names that `export { … }` lists apart from their declarations. */
function exportedLater(source: ts.SourceFile): ReadonlySet<string> {
  const lists = source.statements.flatMap((node) =>
    ts.isExportDeclaration(node) && node.moduleSpecifier === undefined && node.exportClause !== undefined ? [node.exportClause] : [],
  );
  return new Set(
    lists.flatMap((list) => (ts.isNamedExports(list) ? list.elements.map(({ propertyName, name }) => (propertyName ?? name).text) : [])),
  );
}

function namesOf(node: ts.Statement): readonly string[] {
  if (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) return [node.name?.text ?? "default"];
  if (!ts.isVariableStatement(node)) return [];
  return node.declarationList.declarations.flatMap(({ name, initializer }) =>
    ts.isIdentifier(name) && initializer !== undefined && isFunctionOrClass(initializer) ? [name.text] : [],
  );
}

function isFunctionOrClass(node: ts.Expression): boolean {
  return ts.isArrowFunction(node) || ts.isFunctionExpression(node) || ts.isClassExpression(node);
}

function isExported(node: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []) : [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
}

/** What is wrong with the comment above a declaration that begins on `line`, from 0; undefined: nothing. */
function problemAbove(node: ts.Statement, line: number, source: ts.SourceFile): string | undefined {
  const text = source.text;
  const last = ts.getLeadingCommentRanges(text, node.pos)?.at(-1);
  const comment = last === undefined ? "" : text.slice(last.pos, last.end);
  // What stands further up, such as the head of the file, is about something else.
  const isAdjacent = last !== undefined && line - source.getLineAndCharacterOfPosition(last.end).line <= 1;
  if (!isAdjacent || !comment.startsWith("/**")) return `no docstring directly above it: ${REMEDY}`;
  return /\w/.test(comment) ? undefined : `its docstring is empty: ${REMEDY}`;
}

const REMEDY = "say in `/** … */` what it gives or does, in which units, and what it throws";
