import { posix } from "node:path";
import ts from "typescript";
import { parseSource } from "../importsOf.ts";

/** What of the project a source text reads when it runs, beside what it imports. */
export interface Mentioned {
  /** Files and folders, relative to the root. Rather too many: each text that is such a path counts, wherever it stands. */
  readonly paths: readonly string[];
  /** Why that is perhaps not all: an import of a module that is named only when it runs. */
  readonly unsure?: string;
}

/** Finds them in the text of a file at `path`. `exists` says whether a path of the project is a file or folder of it. */
export function mentionedPaths(path: string, text: string, exists: (path: string) => boolean): Mentioned {
  const source = parseSource(path, text);
  const folder = posix.dirname(path);
  const texts = new Set<string>();
  const bases = new Set<string>([folder]);
  let unsure: string | undefined;

  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node))
      texts.add(node.text);
    else if (ts.isPropertyAccessExpression(node) && node.getText(source) === "process.cwd") bases.add(".");
    else if (ts.isCallExpression(node)) {
      const [first] = node.arguments;
      if (node.expression.kind === ts.SyntaxKind.ImportKeyword && first !== undefined && !ts.isStringLiteralLike(first))
        unsure ??= `${path} imports a module that is named only when it runs`;
      const given = joined(node);
      // `join(dirname(fileURLToPath(import.meta.url)), "..")`
      if (/^[./]+$/.test(given)) bases.add(posix.join(folder, given));
      else texts.add(given);
    } else if (ts.isNewExpression(node) && node.expression.getText(source) === "URL") {
      const base = ofURL(node);
      if (base !== undefined) bases.add(posix.join(folder, base));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);

  const found = new Set<string>();
  for (const base of bases) {
    const normal = posix.normalize(base).replace(/\/$/, "");
    // Of a folder that the file itself is in, it reads what it names there.
    if (isBelowRoot(normal) && exists(normal) && !`${folder}/`.startsWith(`${normal}/`)) found.add(normal);
  }
  const namesRoot = [...bases].some((base) => posix.normalize(base).replace(/\/$/, "") === ".");
  for (const one of texts) {
    // A word alone is one that happens to be the name of a folder, but where the root is at hand.
    if (/^[./]*$/.test(one) || (!/[./]/.test(one) && !namesRoot)) continue;
    for (const base of [".", ...bases]) {
      const candidate = posix.join(base, one).replace(/\/$/, "");
      if (isBelowRoot(candidate) && exists(candidate)) found.add(candidate);
    }
  }
  return { paths: [...found].sort(), ...(unsure === undefined ? {} : { unsure }) };
}

/** Consecutive texts among the arguments of `join`, as one path: `join(root, "apps", "agent")`. */
function joined({ expression, arguments: given }: ts.CallExpression): string {
  if (!ts.isIdentifier(expression) || (expression.text !== "join" && expression.text !== "resolve")) return "";
  return given.flatMap((one) => (ts.isStringLiteralLike(one) ? [one.text] : [])).join("/");
}

/** The text of the first argument, up to the first part that is known only when it runs. */
function ofURL({ arguments: given }: ts.NewExpression): string | undefined {
  const [first] = given ?? [];
  if (first === undefined) return undefined;
  if (ts.isStringLiteralLike(first)) return first.text;
  return ts.isTemplateExpression(first) ? first.head.text : undefined;
}

/** The root itself is no input: what is read below it is named. */
function isBelowRoot(path: string): boolean {
  const normal = posix.normalize(path);
  return normal !== "." && normal !== "./" && !normal.startsWith("..") && !normal.startsWith("/");
}
