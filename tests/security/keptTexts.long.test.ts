import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
// What serves others. meshctl and the simulator end with what they were asked.
const SERVING = /^(packages\/(?!simulator|testing)[^/]+|apps\/(agent|mgmt-server|ui))\/src\/(?!gen\/|.*\/gen\/)(?!.*\.test\.ts$)/;
/** A cut to a limit, as `slice(0, MOST_LETTERS)`. */
const LIMIT = /^([3-9]\d|\d[\d_]{2,}|(\d \* )?[A-Z][A-Z_0-9]{3,}( - \d)?|longest|most)$/;
/** Texts that nobody else decides about, or that are short whatever somebody sends. */
const SHORT = /toISOString\(\)|isoTime\(|digest\(|md5Hex\(|macOf(Bytes)?\(|\buid\b|\broot\b/;
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "packages/core/src/text/keptText.ts": "it is what copies",
  "packages/core/src/names.ts": "names of objects, which an API server limits to 253 characters",
  "packages/core/src/versionSkew.ts": "a number is read of it",
  "packages/insights/src/rules/certificates.ts": "a digest",
  "packages/translators/src/meshes/istio/subsets.ts": "at most 64 characters, which the subset's name is checked for",
  "packages/translators/src/policy/policyFilterName.ts": "names of objects, which an API server limits to 253 characters",
};

// V8 keeps the whole text behind a part of it: so a cut text is no bound of memory.
test("a text that is cut to a limit is copied, in all that serves others", () => {
  const { fileNames, options } = configuration();
  const files = new Set(fileNames.filter((file) => SERVING.test(relative(ROOT, file))));
  const program = ts.createProgram([...files], { ...options, noEmit: true });
  const found = program.getSourceFiles().flatMap((source) => (files.has(source.fileName) ? cutsIn(program, source) : []));
  const places = found.filter(({ file }) => EXCEPTIONS[file] === undefined).map(({ file, text }) => `${file}: ${text}: use keptText`);
  expect(places).toEqual([]);
  // The rule sees what it is to see.
  expect(
    Object.keys(EXCEPTIONS).filter((file) => !found.some((one) => one.file === file) && file !== "packages/core/src/text/keptText.ts"),
  ).toEqual([]);
});

function configuration(): ts.ParsedCommandLine {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined };
  const parsed = ts.getParsedCommandLineOfConfigFile(join(ROOT, "tsconfig.json"), {}, host);
  if (parsed === undefined) throw new TypeError("tsconfig.json cannot be read");
  return parsed;
}

function cutsIn(program: ts.Program, source: ts.SourceFile): readonly { readonly file: string; readonly text: string }[] {
  const checker = program.getTypeChecker();
  const found: { file: string; text: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression;
      const [from, to] = node.arguments.map((argument) => argument.getText());
      const isCut = ["slice", "substring"].includes(name.text) && from === "0" && LIMIT.test(to ?? "");
      if (isCut && !SHORT.test(expression.getText()) && isText(checker.getTypeAtLocation(expression)))
        found.push({ file: relative(ROOT, source.fileName), text: node.getText().replace(/\s+/g, " ") });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isText(type: ts.Type): boolean {
  return type.isUnion() ? type.types.some(isText) : (type.flags & ts.TypeFlags.StringLike) !== 0;
}
