import ts from "typescript";

/** One mention of another module in a source file. */
export interface Import {
  readonly specifier: string;
  /** 1-based. */
  readonly line: number;
  /** `static` imports run the module at load time; `dynamic` ones when called; `type` ones leave no trace at run time. */
  readonly mode: "static" | "dynamic" | "type";
}

/** Every module that a source text imports or re-exports, in order of appearance. */
export function importsOf(path: string, text: string): readonly Import[] {
  const source = parseSource(path, text);
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, mode: Import["mode"]): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    found.push({ specifier: specifier.text, line: lineOf(source, specifier), mode });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword ? "type" : "static");
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly ? "type" : "static");
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, "type");
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0], "dynamic");
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The syntax tree of one file. Callers share it, so none may change it. */
export function parseSource(path: string, text: string): ts.SourceFile {
  const known = parsed.get(path);
  if (known?.text === text) return known;
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, false, path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  parsed.set(path, source);
  return source;
}

// The checks read the same files one after the other, and to parse them is most of their work.
const parsed = new Map<string, ts.SourceFile>();

/** The 1-based line on which a node begins. */
export function lineOf(source: ts.SourceFile, node: ts.Node): number {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}
