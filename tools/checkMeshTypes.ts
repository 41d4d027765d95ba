import { Mesh } from "@isthmus/api";
import ts from "typescript";
import type { CheckResult } from "./checkResult.ts";
import { lineOf, parseSource } from "./importsOf.ts";
import { isTypeScript, placeOf, type SourceTree } from "./sourceTree.ts";

/** Members of `Mesh.spec` that meshes of one type have. */
const MESH_TYPES: ReadonlySet<string> = new Set(
  Object.keys(Mesh.definition.fields.spec.properties).filter((name) => name !== "agentInfo" && name !== "cilium" && name !== "held"),
);

/** Folders of `packages/translators/src` that know no type of mesh. */
const NEUTRAL = ["attachment", "discovery", "incremental", "pipeline", "policy", "statuses"];
/** What meshes look like is known here. */
const DETECTORS = "src/discovery/detectors/";

const REMEDY =
  "ask MeshTranslator (packages/translators/src/meshes/meshTranslator.ts), a detector, or policy/policyScope.ts, so that another mesh needs no change here";

/** Programs ask for the place of a mesh of any type; what is about Istio alone may read that. */
const REMEDY_FOR_APPS = "ask meshInstallationOf or meshClusters (packages/api/src/discovery/meshPlace.ts)";

/** Refuses code of translation outside of `meshes/` and the detectors that reads the member of `Mesh.spec` of one type of mesh, and programs that read one of another type than Istio. */
export function checkMeshTypes(tree: SourceTree): CheckResult {
  const problems: string[] = [];
  let files = 0;
  for (const [path, text] of tree) {
    const isProgram = isOfProgram(path);
    if (!isNeutral(path) && !isProgram) continue;
    files += 1;
    const source = parseSource(path, text);
    const visit = (node: ts.Node): void => {
      const type = typeRead(node, source);
      const isRefused = type !== undefined && !(isProgram && (type === "istio" || ts.isBindingElement(node)));
      if (isRefused)
        problems.push(`${path}:${lineOf(source, node)}: reads spec.${type} of a Mesh: ${isProgram ? REMEDY_FOR_APPS : REMEDY}`);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  // A checker that looks at nothing finds nothing wrong.
  if (files === 0) problems.push("no neutral file was found");
  return { summary: `${files} files`, problems };
}

function isOfProgram(path: string): boolean {
  const { kind, inside, isTest } = placeOf(path);
  return kind === "app" && !isTest && isTypeScript(path) && inside.startsWith("src/");
}

function isNeutral(path: string): boolean {
  const { kind, name, inside, isTest } = placeOf(path);
  if (kind !== "package" || name !== "translators" || isTest || !isTypeScript(path)) return false;
  return NEUTRAL.some((folder) => inside.startsWith(`src/${folder}/`)) && !inside.startsWith(DETECTORS);
}

/** The type of mesh whose member a node reads from something called `spec`; undefined for any other node. */
function typeRead(node: ts.Node, source: ts.SourceFile): string | undefined {
  const name = nameRead(node, source);
  return name !== undefined && MESH_TYPES.has(name) ? name : undefined;
}

function nameRead(node: ts.Node, source: ts.SourceFile): string | undefined {
  if (ts.isPropertyAccessExpression(node)) return isSpec(node.expression, source) ? node.name.text : undefined;
  if (ts.isElementAccessExpression(node)) return isSpec(node.expression, source) ? textOf(node.argumentExpression) : undefined;
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.InKeyword)
    return isSpec(node.right, source) ? textOf(node.left) : undefined;
  // `const { istio } = …` and `({ spec: { istio } }) => …`: nothing else that translation takes apart has members of these names.
  if (ts.isBindingElement(node)) return textOf(node.propertyName ?? node.name);
  return undefined;
}

function isSpec(node: ts.Expression, source: ts.SourceFile): boolean {
  return /\bspec\b[^.[]*$/.test(node.getText(source));
}

function textOf(node: ts.Node): string | undefined {
  return ts.isIdentifier(node) || ts.isStringLiteralLike(node) ? node.text : undefined;
}
