import { type FolderRule, folderTable } from "./packageTable.ts";
import type { Place } from "./sourceTree.ts";

/** A folder as the table knows it, with its own path: many folders may stand under one key. */
interface Folder {
  readonly key: string;
  readonly path: string;
  readonly rule: FolderRule;
}

/** What is wrong with an import from one file of a package to another of the same; undefined when nothing is. */
export function folderProblem(from: Place, to: Place): string | undefined {
  const rules = folderTable[from.name];
  if (rules === undefined) return undefined;
  const [own, other] = [folderOf(from, rules), folderOf(to, rules)];
  if (own === undefined) return noRow(from);
  if (other === undefined) return noRow(to);
  const { imports } = own.rule;
  if (own.path === other.path || imports === "any" || imports.includes(other.key)) return undefined;
  return `${own.path} may not import ${other.path}: it imports ${imports.length === 0 ? "no other folder" : `only ${imports.join(", ")}`}`;
}

function noRow({ name, inside }: Place): string {
  return `${inside} of ${name} has no row in folderTable of tools/packageTable.ts`;
}

/** The row of the longest path that holds a file. */
function folderOf({ inside }: Place, rules: Readonly<Record<string, FolderRule>>): Folder | undefined {
  const parts = inside.split("/").slice(1);
  for (let length = parts.length; length > 0; length--) {
    const path = parts.slice(0, length).join("/");
    const some = [...parts.slice(0, length - 1), "*"].join("/");
    // `*` stands for a folder, so something must be in it.
    for (const key of length < parts.length ? [path, some] : [path]) {
      const rule = rules[key];
      if (rule !== undefined) return { key, path, rule };
    }
  }
  const rule = parts.length === 1 ? rules["."] : undefined;
  return rule && { key: ".", path: ".", rule };
}

/** The rules of a package's folders as a table of its README.md. */
export function folderRows(name: string): string {
  const rows = Object.entries(folderTable[name] ?? {}).map(
    ([key, { holds, imports }]) =>
      `| \`${key}\` | ${holds} | ${imports === "any" ? "any" : imports.map((one) => `\`${one}\``).join(", ") || "none"} |`,
  );
  return ["| folder | what it holds | imports |", "|---|---|---|", ...rows].join("\n");
}

/** The same as a Mermaid diagram, without the arrows that follow from others: who imports whom, from the top down. */
export function folderDiagram(name: string): string {
  const rules = folderTable[name] ?? {};
  const keys = Object.keys(rules).filter((key) => rules[key]?.imports !== "any");
  const importsOf = (key: string): readonly string[] => {
    const imports = rules[key]?.imports ?? [];
    return imports === "any" ? [] : imports;
  };
  const reaches = (from: string, to: string): boolean => importsOf(from).some((next) => next === to || reaches(next, to));
  const nodes = keys.map((key, index) => `  n${index}["${key === "." ? "files of src" : key}"]`);
  const arrows = keys.flatMap((key, index) =>
    importsOf(key)
      .filter((to) => !importsOf(key).some((other) => other !== to && reaches(other, to)))
      .map((to) => `  n${index} --> n${keys.indexOf(to)}`),
  );
  return ["```mermaid", "flowchart TD", ...nodes, ...arrows, "```"].join("\n");
}

/** What is wrong with the table itself: an import of a folder above, or one that no file makes. `used`: pairs `FROM TO` of keys. */
export function tableProblems(name: string, used: ReadonlySet<string>): readonly string[] {
  const keys = Object.keys(folderTable[name] ?? {});
  return Object.entries(folderTable[name] ?? {}).flatMap(([key, { imports }]) =>
    (imports === "any" ? [] : imports).flatMap((to) => {
      if (!keys.includes(to) || keys.indexOf(to) >= keys.indexOf(key))
        return [`folderTable of ${name}: ${key} imports ${to}, which is not below it`];
      return used.has(`${key} ${to}`) ? [] : [`folderTable of ${name}: no file of ${key} imports ${to}`];
    }),
  );
}

/** The pair of keys of an import between two folders of a package with a table; undefined for any other import. */
export function folderPair(from: Place, to: Place): string | undefined {
  const rules = folderTable[from.name];
  if (rules === undefined) return undefined;
  const [own, other] = [folderOf(from, rules), folderOf(to, rules)];
  return own === undefined || other === undefined ? undefined : `${own.key} ${other.key}`;
}
