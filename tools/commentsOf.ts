import ts from "typescript";
import { parseSource } from "./importsOf.ts";

// Stands for code: no word, and no white space.
const CODE = "\u0000";

/**
 * The comments of one file, each character where it is in the file: what is code, also what backticks enclose in a comment, is CODE, and the
 * marks of comments are spaces. So a sentence that goes over several lines is one text.
 */
export function commentsOf(path: string, text: string): string {
  const literals = literalsIn(parseSource(path, text));
  let prose = "";
  let done = 0;
  const add = (end: number, isComment: boolean): void => {
    const part = text.slice(done, end);
    prose += isComment ? commentText(part) : part.replace(/\S/g, CODE);
    done = end;
  };
  const comment = /\/\/.*|\/\*[\s\S]*?\*\//g;
  for (let found = comment.exec(text); found !== null; found = comment.exec(text)) {
    const { index } = found;
    const literal = literals.find(([start, end]) => index >= start && index < end);
    // What looks like a comment in a literal may reach beyond its end.
    if (literal !== undefined) comment.lastIndex = literal[1];
    else {
      add(index, false);
      add(index + found[0].length, true);
    }
  }
  add(text.length, false);
  return prose;
}

/** Without its marks and the code that it quotes. */
function commentText(comment: string): string {
  return comment
    .replace(/`[^`\n]*`/g, (code) => CODE.repeat(code.length))
    .replace(/^\/\/|^\/\*+|\*\/$|^[ \t]*\*/gm, (mark) => " ".repeat(mark.length));
}

/** Where texts and regular expressions are, which may look like comments. */
function literalsIn(source: ts.SourceFile): readonly (readonly [number, number])[] {
  const spans: (readonly [number, number])[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isLiteralExpression(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node) || ts.isJsxText(node))
      spans.push([node.getStart(source), node.end]);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return spans;
}

/** The titles of tests and of groups of tests in one file, with where they begin. */
export function titlesOf(path: string, text: string): readonly { readonly title: string; readonly index: number }[] {
  const source = parseSource(path, text);
  const titles: { title: string; index: number }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && TESTS.has(calleeOf(node.expression))) {
      const [title] = node.arguments;
      if (title !== undefined && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title)))
        titles.push({ title: title.getText(source), index: title.getStart(source) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return titles;
}

const TESTS: ReadonlySet<string> = new Set(["test", "it", "describe"]);

/** What a call is of: `test` of `test.each(rows)("…")`. */
function calleeOf(expression: ts.Expression): string {
  if (ts.isIdentifier(expression)) return expression.text;
  if (ts.isPropertyAccessExpression(expression) || ts.isCallExpression(expression)) return calleeOf(expression.expression);
  return "";
}
