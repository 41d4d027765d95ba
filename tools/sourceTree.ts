import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The project's own text files by path relative to its root, with `/`: hand-written TypeScript and the package.json files. */
export type SourceTree = ReadonlyMap<string, string>;

const ROOTS = ["packages", "apps", "tests", "tools"];
// `gen` is the relay's generated code, the rest is not source.
const SKIPPED = new Set(["node_modules", "dist", "gen", "testdata", "coverage"]);

/** Reads the sources of the project at `root`. */
export function readSourceTree(root: string): SourceTree {
  const files = new Map<string, string>();
  const add = (path: string): void => {
    files.set(path, readFileSync(join(root, path), "utf8"));
  };
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) walk(path);
      else if (entry.isFile() && (isTypeScript(path) || entry.name === "package.json")) add(path);
    }
  };
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (entry.isDirectory() && ROOTS.includes(entry.name)) walk(entry.name);
    else if (entry.isFile() && (entry.name.endsWith(".config.ts") || entry.name === "package.json")) add(entry.name);
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether a path is hand-written TypeScript. */
export function isTypeScript(path: string): boolean {
  return /\.(ts|tsx|mts)$/.test(path) && !path.endsWith(".d.ts");
}

/** Where a file belongs: to a package or app (`name` is its folder), or to the project as a whole. */
export interface Place {
  readonly kind: "package" | "app" | "project";
  readonly name: string;
  /** Path below the place's own folder, such as `src/main.ts`. */
  readonly inside: string;
  readonly isTest: boolean;
}

/** The place of a path of the tree. Whatever is not in `src` of a package or app, or is named `*.test.ts`, counts as test or tooling. */
export function placeOf(path: string): Place {
  const [top = "", name = "", ...rest] = path.split("/");
  const isTest = top === "tests" || /\.test\.tsx?$/.test(path);
  if (top !== "packages" && top !== "apps") return { kind: "project", name: top, inside: path, isTest };
  return { kind: top === "packages" ? "package" : "app", name, inside: rest.join("/"), isTest: isTest || rest[0] === "test" };
}
