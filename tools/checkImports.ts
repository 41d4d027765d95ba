import { isBuiltin } from "node:module";
import { posix } from "node:path";
import type { CheckResult } from "./checkResult.ts";
import { cyclesOf } from "./cycles.ts";
import { folderPair, tableProblems } from "./folderRules.ts";
import { problemOf, SCOPE, type Target } from "./importRules.ts";
import { importsOf } from "./importsOf.ts";
import { folderTable } from "./packageTable.ts";
import { isTypeScript, placeOf, type SourceTree } from "./sourceTree.ts";

/**
 * Holds every import of the project against the package table: who imports whom, only through declared entry points, nothing
 * of Node where a browser must follow, no app from another app, and no cycle of imports at run time.
 */
export function checkImports(tree: SourceTree): CheckResult {
  const entries = entryPointsOf(tree);
  const problems: string[] = [];
  const graph = new Map<string, string[]>();
  const used = new Map<string, Set<string>>(Object.keys(folderTable).map((name) => [name, new Set()]));
  for (const [path, text] of tree) {
    if (!isTypeScript(path)) continue;
    const place = placeOf(path);
    const edges: string[] = [];
    for (const found of importsOf(path, text)) {
      const target = targetOf(path, found.specifier, entries);
      const problem = problemOf({ path, place, found, target }, tree);
      if (problem !== undefined) problems.push(`${path}:${found.line}: ${problem}`);
      if (found.mode === "static" && "path" in target) edges.push(target.path);
      const pair =
        target.type === "relative" && !place.isTest && tree.has(target.path) ? folderPair(place, placeOf(target.path)) : undefined;
      if (pair !== undefined) used.get(place.name)?.add(pair);
    }
    graph.set(path, edges);
  }
  // A tree of a test holds some files of a package only.
  if (tree.has("tools/packageTable.ts")) for (const [name, pairs] of used) problems.push(...tableProblems(name, pairs));
  problems.push(...packagesWithoutTable(tree));
  for (const cycle of cyclesOf(graph)) problems.push(`import cycle at run time: ${[...cycle, cycle[0]].join(" -> ")}`);
  // A checker that looks at nothing finds nothing wrong.
  if (graph.size === 0) problems.push("no TypeScript file was found");
  return { summary: `${graph.size} files`, problems };
}

/** A package whose source has folders needs a table of them: else any of its files may import any other. */
function packagesWithoutTable(tree: SourceTree): readonly string[] {
  const without = new Map<string, string>();
  for (const path of tree.keys()) {
    const { kind, name, inside, isTest } = placeOf(path);
    if (kind === "project" || isTest || !isTypeScript(path) || Object.hasOwn(folderTable, name)) continue;
    const [src, folder, ...rest] = inside.split("/");
    if (src === "src" && folder !== undefined && rest.length > 0 && !without.has(`${kind}s/${name}`))
      without.set(`${kind}s/${name}`, folder);
  }
  return [...without].map(
    ([place, folder]) =>
      `${place} has the folder src/${folder} and no table of folders: add it to folderTable of tools/packageTable.ts, and run npm run generate:architecture`,
  );
}

function targetOf(importer: string, specifier: string, entries: ReadonlyMap<string, string>): Target {
  if (specifier.startsWith(".")) return { type: "relative", path: posix.join(posix.dirname(importer), specifier) };
  if (isBuiltin(specifier)) return { type: "node" };
  const parts = specifier.split("/");
  if (parts[0] !== SCOPE) return { type: "npm", name: specifier.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? "") };
  const name = parts.slice(1).join("/");
  const path = entries.get(name);
  return path === undefined ? { type: "unexported", name } : { type: "workspace", name, path };
}

/** Entry points of all packages, such as `relay/session`, each with the file behind it; from `exports` of their package.json. */
function entryPointsOf(tree: SourceTree): ReadonlyMap<string, string> {
  const entries = new Map<string, string>();
  for (const [path, text] of tree) {
    const match = /^(packages\/([^/]+))\/package\.json$/.exec(path);
    if (match === null) continue;
    const { exports = {} } = JSON.parse(text) as { exports?: Record<string, string> };
    for (const [entry, file] of Object.entries(exports)) {
      entries.set(posix.join(match[2] ?? "", entry), posix.join(match[1] ?? "", file));
    }
  }
  return entries;
}
