import ts from "typescript";

/** The names of the functions that each line (1-based) of a source belongs to, the innermost with a name; "" at the top. */
export function functionsByLine(path: string, text: string): ReadonlyMap<number, string> {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
  const names = new Map<number, string>();
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
  const visit = (node: ts.Node, within: string): void => {
    const name = ts.isFunctionLike(node) ? nameOf(node) : undefined;
    const inside = name === undefined ? within : within === "" ? name : `${within}.${name}`;
    if (inside !== within) {
      for (let line = lineAt(node.getStart()); line <= lineAt(node.getEnd()); line++) names.set(line, inside);
    }
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(source, "");
  return names;
}

function nameOf(node: ts.SignatureDeclaration): string | undefined {
  if (node.name !== undefined) return node.name.getText();
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) return parent.name.getText();
  return undefined;
}
