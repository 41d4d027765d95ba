import { posix } from "node:path";
import ts from "typescript";
import type { CheckResult } from "./checkResult.ts";
import { lineOf, parseSource } from "./importsOf.ts";
import { longFunctionProblems } from "./longFunctions.ts";
import { isTypeScript, placeOf, type SourceTree } from "./sourceTree.ts";

/** Lines per file of hand-written source (tests apart), files directly in a folder, and `any` per 1,000 lines: what the best codebases of this field keep. */
const budgets = { medianLines: 120, p95Lines: 350, maxLines: 500, maxFilesOfFolder: 40, anyPerThousandLines: 0.3 } as const;

// Names under which things gather that have nothing in common.
const SHAPELESS = /^(utils?|helpers?|commons?|managers?)$/i;

/** Holds file sizes, file names and the few forbidden forms of TypeScript against the house's budgets. */
export function checkSizes(tree: SourceTree): CheckResult {
  const problems: string[] = [];
  const sizes: { readonly path: string; readonly lines: number }[] = [];
  let anys = 0;
  for (const [path, text] of tree) {
    if (!isTypeScript(path)) continue;
    const name = posix.basename(path).replace(/(\.test|\.config)?\.\w+$/, "");
    if (SHAPELESS.test(name)) problems.push(`${path}: a file is named after its main export, not "${name}"`);
    const source = parseSource(path, text);
    problems.push(...defaultExportsOf(path, source));
    if (!isCounted(path)) continue;
    if (name === "index") problems.push(...indexProblems(path, source));
    problems.push(...longFunctionProblems(path, source));
    if (text.includes("AbortSignal.timeout("))
      problems.push(
        `${path}: AbortSignal.timeout: take abortedAfter of packages/core, which a collection of garbage does not undo on Node 20`,
      );
    sizes.push({ path, lines: linesOf(text) });
    anys += countAny(source);
  }
  const counts = sizes.map(({ lines }) => lines).sort((a, b) => a - b);
  const total = counts.reduce((sum, lines) => sum + lines, 0);
  const [median, p95] = [percentile(counts, 50), percentile(counts, 95)];
  const anyRate = total === 0 ? 0 : (1000 * anys) / total;
  if (median > budgets.medianLines)
    problems.push(`the median file has ${median} lines, above ${budgets.medianLines}: split the large ones`);
  if (p95 > budgets.p95Lines) problems.push(`one file in twenty has ${p95} lines or more, above ${budgets.p95Lines}`);
  for (const { path, lines } of sizes) {
    if (lines > budgets.maxLines) problems.push(`${path}: ${lines} lines, above ${budgets.maxLines}: its stage is cut wrongly`);
  }
  for (const [folder, count] of filesByFolder(sizes.map(({ path }) => path))) {
    if (count > budgets.maxFilesOfFolder)
      problems.push(`${folder}: ${count} files, above ${budgets.maxFilesOfFolder}: give those about one thing a folder of their own`);
  }
  if (anyRate > budgets.anyPerThousandLines)
    problems.push(`${anys} \`any\` in ${total} lines, above ${budgets.anyPerThousandLines} per 1,000`);
  if (sizes.length === 0) problems.push("no source file was found");
  const largest = counts.at(-1) ?? 0;
  return { summary: `${sizes.length} files: median ${median} lines, p95 ${p95}, max ${largest}; ${anys} any in ${total}`, problems };
}

function isCounted(path: string): boolean {
  const { kind, isTest, inside } = placeOf(path);
  return kind !== "project" && !isTest && (inside.startsWith("src/") || inside.startsWith("client/"));
}

function filesByFolder(paths: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
  return counts;
}

function linesOf(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

/** The nearest-rank percentile of ascending numbers; 0 when there are none. */
function percentile(ascending: readonly number[], percent: number): number {
  return ascending[Math.max(0, Math.ceil((percent / 100) * ascending.length) - 1)] ?? 0;
}

function countAny(root: ts.Node): number {
  let count = root.kind === ts.SyntaxKind.AnyKeyword ? 1 : 0;
  ts.forEachChild(root, (child) => {
    count += countAny(child);
  });
  return count;
}

function defaultExportsOf(path: string, source: ts.SourceFile): readonly string[] {
  // The tools that read a `*.config.ts` want its default export.
  if (path.endsWith(".config.ts")) return [];
  return source.statements
    .filter((statement) => isDefaultExport(statement))
    .map((statement) => `${path}:${lineOf(source, statement)}: default export: give it the name of the file`);
}

function isDefaultExport(statement: ts.Statement): boolean {
  if (ts.isExportAssignment(statement)) return true;
  if (ts.isExportDeclaration(statement)) {
    const clause = statement.exportClause;
    return clause !== undefined && ts.isNamedExports(clause) && clause.elements.some(({ name }) => name.text === "default");
  }
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword);
}

/** An `index.ts` shows what a folder holds: imports, re-exports, and lists of what it imports. */
function indexProblems(path: string, source: ts.SourceFile): readonly string[] {
  return source.statements
    .filter((statement) => !ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement) && !isList(statement))
    .map((statement) => `${path}:${lineOf(source, statement)}: index.ts re-exports or lists; move this to a file of its own`);
}

function isList(statement: ts.Statement): boolean {
  if (!ts.isVariableStatement(statement)) return false;
  return statement.declarationList.declarations.every(({ initializer }) => initializer !== undefined && isListLiteral(initializer));
}

function isListLiteral(expression: ts.Expression): boolean {
  if (ts.isAsExpression(expression) || ts.isSatisfiesExpression(expression)) return isListLiteral(expression.expression);
  return ts.isArrayLiteralExpression(expression) && expression.elements.every(isListElement);
}

/** A name, a spread name, or a record of names and literals. */
function isListElement(element: ts.Expression): boolean {
  if (ts.isSpreadElement(element)) return ts.isIdentifier(element.expression);
  if (!ts.isObjectLiteralExpression(element)) return ts.isIdentifier(element) || isLiteral(element);
  return element.properties.every(
    (property) => ts.isShorthandPropertyAssignment(property) || (ts.isPropertyAssignment(property) && isListElement(property.initializer)),
  );
}

function isLiteral(expression: ts.Expression): boolean {
  return ts.isLiteralExpression(expression) || [ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword].includes(expression.kind);
}
