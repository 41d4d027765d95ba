import ts from "typescript";
import { lineOf, parseSource } from "./importsOf.ts";

/** A name that a file declares and exports. */
export interface ExportedName {
  readonly name: string;
  /** Line of its first declaration, from 1. */
  readonly line: number;
}

/**
 * Functions, types, classes and constants that a TypeScript file exports, each name once: overloads, and a value and a type of
 * one name, are one. Re-exports from other files (`export … from`) are not listed.
 */
export function exportsOf(path: string, text: string): readonly ExportedName[] {
  const source = parseSource(path, text);
  const lines = new Map<string, number>();
  for (const statement of source.statements) {
    for (const name of namesOf(statement)) {
      if (!lines.has(name)) lines.set(name, lineOf(source, statement));
    }
  }
  return [...lines].map(([name, line]) => ({ name, line }));
}

/** Where each member of an exported interface, class or type of a file is declared, once a name. */
export function membersOf(path: string, text: string): readonly ExportedName[] {
  const source = parseSource(path, text);
  const lines = new Map<string, number>();
  const visit = (node: ts.Node): void => {
    const isMember =
      ts.isPropertySignature(node) || ts.isMethodSignature(node) || ts.isPropertyDeclaration(node) || ts.isMethodDeclaration(node);
    if (isMember && ts.isIdentifier(node.name) && !lines.has(node.name.text)) lines.set(node.name.text, lineOf(source, node));
    // What a method does inside is its own.
    if (!ts.isBlock(node)) ts.forEachChild(node, visit);
  };
  for (const statement of source.statements) {
    const isType = ts.isInterfaceDeclaration(statement) || ts.isClassDeclaration(statement) || ts.isTypeAliasDeclaration(statement);
    if (isType && namesOf(statement).length > 0) visit(statement);
  }
  return [...lines].map(([name, line]) => ({ name, line }));
}

function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isExportDeclaration(statement)) {
    const { exportClause, moduleSpecifier } = statement;
    if (moduleSpecifier !== undefined || exportClause === undefined || !ts.isNamedExports(exportClause)) return [];
    return exportClause.elements.map(({ name }) => name.text);
  }
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.flatMap(({ name }) => boundNames(name));
  if (
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isEnumDeclaration(statement)
  ) {
    return statement.name === undefined ? [] : [statement.name.text];
  }
  return [];
}

/** The names that a declaration binds, such as `a` and `b` of `const { a, b } = …`. */
function boundNames(name: ts.BindingName): readonly string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : boundNames(element.name)));
}
