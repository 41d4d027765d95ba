import { folderProblem } from "./folderRules.ts";
import type { Import } from "./importsOf.ts";
import { browserApps, type PackageRule, packageTable, soleImporters } from "./packageTable.ts";
import { isTypeScript, type Place, placeOf, type SourceTree } from "./sourceTree.ts";

/** The scope of the project's own packages. */
export const SCOPE = "@isthmus";

/** What a specifier stands for. */
export type Target =
  | { readonly type: "relative"; readonly path: string }
  | { readonly type: "workspace"; readonly name: string; readonly path: string }
  | { readonly type: "unexported"; readonly name: string }
  | { readonly type: "node" }
  | { readonly type: "npm"; readonly name: string };

/** One import, and who makes it. */
export interface Found {
  readonly path: string;
  readonly place: Place;
  readonly found: Import;
  readonly target: Target;
}

/** What is wrong with one import, and what to do instead; undefined when nothing is. */
export function problemOf(import_: Found, tree: SourceTree): string | undefined {
  const { target } = import_;
  switch (target.type) {
    case "relative":
      return relativeProblem(import_, target.path, tree);
    case "workspace":
      return workspaceProblem(import_, target.name, tree);
    case "unexported":
      return `${SCOPE}/${target.name} is not an entry point: packages are imported through the \`exports\` of their package.json`;
    case "node":
      return nodeProblem(import_);
    case "npm":
      return npmProblem(import_, target.name, tree);
  }
}

function relativeProblem({ path, place, found }: Found, target: string, tree: SourceTree): string | undefined {
  if (!tree.has(target)) return isTypeScript(target) && !target.includes("/gen/") ? `${found.specifier} does not exist` : undefined;
  const other = placeOf(target);
  if (other.kind !== place.kind || other.name !== place.name) {
    // Tests of the whole project and its tools may start each other's files; they are one place for this purpose.
    if (other.kind === "project" && place.kind === "project") return undefined;
    return `${target} belongs to another ${other.kind}: import a package by its name${other.kind === "app" ? "; apps are never imported" : ""}`;
  }
  if (other.isTest && !place.isTest) return `${target} is a test file`;
  if (found.mode !== "type" && runsInBrowser(path) && !runsInBrowser(target)) {
    return `${target} does not run in a browser, and this file must`;
  }
  return place.isTest || !isTypeScript(target) ? undefined : folderProblem(place, other);
}

function workspaceProblem({ path, place, found }: Found, name: string, tree: SourceTree): string | undefined {
  const packageName = name.split("/")[0] ?? "";
  const rule = packageTable[packageName];
  if (rule === undefined) return `${packageName} has no row in tools/packageTable.ts`;
  if (place.kind === "package" && place.name === packageName) return `${found.specifier} is this very package: import the file`;
  // Tests may look at anything; npm links every package of the project, so that they need not declare it.
  if (place.isTest || (place.kind === "package" && packageTable[place.name]?.testsOnly === true)) return undefined;
  if (rule.testsOnly === true) return `${packageName} is for tests`;
  if (place.kind === "project") return undefined;
  if (place.kind === "app") {
    if (runsInBrowser(path) && rule.browser === "none") return `${packageName} does not run in a browser`;
    return undeclared(place, `${SCOPE}/${packageName}`, tree);
  }
  const own: PackageRule | undefined = packageTable[place.name];
  if (own === undefined) return `${place.name} has no row in tools/packageTable.ts`;
  if (own.imports === "any" || own.imports.includes(name) || own.imports.includes(packageName)) {
    return undeclared(place, `${SCOPE}/${packageName}`, tree);
  }
  const allowed = own.imports.length === 0 ? "no other package" : `only ${own.imports.join(", ")}`;
  return `${place.name} may not import ${name}: it imports ${allowed}`;
}

function npmProblem({ path, place }: Found, name: string, tree: SourceTree): string | undefined {
  const homes = soleImporters[name];
  const isHome = homes === undefined || [homes].flat().some((home) => path.startsWith(home));
  if (!isHome && !place.isTest) return `${name} is imported by ${[homes].flat().join(" and ")} alone`;
  return undeclared(place, name, tree, runsInBrowser(path));
}

/** What is imported must be declared: in the place's own package.json, for tests and tools also as the project's devDependency; what is bundled for browsers is not installed with the app. */
function undeclared(place: Place, name: string, tree: SourceTree, isBundled = false): string | undefined {
  const own = place.kind === "project" ? "package.json" : `${place.kind}s/${place.name}/package.json`;
  const { dependencies, devDependencies } = manifestOf(tree, own);
  if (name in dependencies || (isBundled && place.kind === "app" && name in devDependencies)) return undefined;
  const isForDevelopment = place.isTest || place.kind === "project" || packageTable[place.name]?.testsOnly === true;
  if (isForDevelopment && (name in devDependencies || name in manifestOf(tree, "package.json").devDependencies)) return undefined;
  return `${name} is not a dependency in ${own}`;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function manifestOf(tree: SourceTree, path: string): Manifest {
  return { dependencies: {}, devDependencies: {}, ...(JSON.parse(tree.get(path) ?? "{}") as Partial<Manifest>) };
}

function nodeProblem({ path, place, found }: Found): string | undefined {
  if (!found.specifier.startsWith("node:")) return `write node:${found.specifier}`;
  if (place.isTest || !runsInBrowser(path) || found.mode === "type") return undefined;
  return `${found.specifier} does not exist in a browser, and this file must run there`;
}

/** Whether the package table wants this file to run in a browser as well. */
function runsInBrowser(path: string): boolean {
  const { kind, name, inside, isTest } = placeOf(path);
  if (isTest || kind === "project") return false;
  if (kind === "app") return browserApps.includes(name) && inside.startsWith("client/");
  const browser = packageTable[name]?.browser ?? "none";
  if (browser === "all" || browser === "none") return browser === "all";
  const isListed = (folders: readonly string[]): boolean => folders.some((folder) => inside.startsWith(`src/${folder}`));
  return "only" in browser ? isListed(browser.only) : !isListed(browser.except);
}
