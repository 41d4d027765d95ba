import ts from "typescript";
import { lineOf, parseSource } from "../../../tools/importsOf.ts";
import type { Mutant } from "./mutant.ts";

/** Comparisons, by what is put in their place: the opposite, and off by one. */
const COMPARISONS: ReadonlyMap<string, readonly string[]> = new Map([
  ["===", ["!=="]],
  ["!==", ["==="]],
  ["<", ["<=", ">="]],
  ["<=", ["<", ">"]],
  [">", [">=", "<="]],
  [">=", [">", "<"]],
  ["&&", ["||"]],
  ["||", ["&&"]],
  ["+", ["-"]],
  ["-", ["+"]],
]);

/** Every mutant of one source text, in the order of the text. Types and imports have none. */
export function mutantsOf(path: string, text: string): readonly Mutant[] {
  const source = parseSource(path, text);
  const found: Mutant[] = [];
  const add = (node: ts.Node, replacement: string, what: string): void => {
    found.push({ path, line: lineOf(source, node), start: node.getStart(source), end: node.getEnd(), replacement, what });
  };
  const textOf = (node: ts.Node): string => node.getText(source);
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isBinaryExpression(node) && !isOfText(node)) {
      const operator = textOf(node.operatorToken);
      for (const other of COMPARISONS.get(operator) ?? []) add(node.operatorToken, other, `${operator} to ${other}`);
    } else if (ts.isNumericLiteral(node)) {
      add(node, String(Number(node.text.replaceAll("_", "")) + 1), "one more");
    } else if (ts.isIfStatement(node)) {
      add(node.expression, `!(${textOf(node.expression)})`, "negated condition");
      if (node.elseStatement === undefined) add(node, "{}", "removed if");
    } else if (ts.isConditionalExpression(node)) {
      add(node.condition, `!(${textOf(node.condition)})`, "negated condition");
    } else if (ts.isExpressionStatement(node) && isEffect(node.expression)) {
      add(node, ";", "removed statement");
    } else if (ts.isReturnStatement(node) && ts.isBlock(node.parent) && node.expression === undefined) {
      add(node, ";", "removed return");
    } else if (ts.isAwaitExpression(node)) {
      add(node, `(${textOf(node.expression)})`, "dropped await");
    } else if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, "false", "true to false");
    else if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, "true", "false to true");
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(withParents(source), visit);
  return found;
}

/** The sum of texts is a message. */
function isOfText({ left, right }: ts.BinaryExpression): boolean {
  return [left, right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side));
}

/** What is written in the log is not looked at by any test, and need not be. */
function isEffect(expression: ts.Expression): boolean {
  const text = expression.getText();
  return !/^(void )?(this\.#)?(options\.)?(log|meter)\b/.test(text) && !ts.isStringLiteralLike(expression);
}

function withParents(source: ts.SourceFile): ts.SourceFile {
  return ts.createSourceFile(source.fileName, source.text, ts.ScriptTarget.ESNext, true, ts.ScriptKind.TS);
}
