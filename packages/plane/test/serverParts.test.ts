import { readFileSync } from "node:fs";
import ts from "typescript";
import { expect, it } from "vitest";

/** Names that a function uses before the line that defines them, also in closures that run later. */
function usedBeforeDefinition(text: string, functionName: string): readonly string[] {
  const source = ts.createSourceFile("server.ts", text, ts.ScriptTarget.ESNext, true);
  const start = source.statements.find((one) => ts.isFunctionDeclaration(one) && one.name?.text === functionName);
  if (start === undefined || !ts.isFunctionDeclaration(start) || start.body === undefined) throw new Error(`no function ${functionName}`);
  const definedAt = new Map<string, number>();
  for (const statement of start.body.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    for (const { name } of statement.declarationList.declarations) if (ts.isIdentifier(name)) definedAt.set(name.text, name.pos);
  }
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const isMember = ts.isPropertyAccessExpression(node.parent) && node.parent.name === node;
    const isKey = ts.isPropertyAssignment(node.parent) && node.parent.name === node;
    if (ts.isIdentifier(node) && !isMember && !isKey && node.pos < (definedAt.get(node.text) ?? 0)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(start.body, visit);
  return found;
}

it("a server builds each part from those before it alone", () => {
  const text = readFileSync(new URL("../src/server/server.ts", import.meta.url), "utf8");
  expect(usedBeforeDefinition(text, "startServer")).toEqual([]);
});

it("a use in a closure before the definition is seen", () => {
  const text = "function f() { const a = 1; const g = () => [a, b, x.b, { b: a }]; const b = 2; return { b }; }";
  expect(usedBeforeDefinition(text, "f")).toEqual(["b"]);
});
