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

/** The syntax tree of one file. After `keepSyntaxTrees` callers share it, so none may change it. */
export function parseSource(path: string, text: string): ts.SourceFile {
  const known = kept?.get(path);
  if (known?.text === text) return known;
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, false, path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  kept?.set(path, source);
  return source;
}

let kept: Map<string, ts.SourceFile> | undefined;

/** From now on a file that is parsed again has the tree of before, for a program that runs several checks and ends: parsing is most of their work. */
export function keepSyntaxTrees(): void {
  kept ??= new Map();
}

/** The 1-based line on which a node begins. */
export function lineOf(source: ts.SourceFile, node: ts.Node): number {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}
