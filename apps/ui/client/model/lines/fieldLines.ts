import { type YamlLine, yamlLines } from "./yamlLines.ts";

/** Where a field stands in the YAML of an object. */
export interface FieldLines {
  readonly lines: readonly YamlLine[];
  /** The first line of the field, and the one after its last. */
  readonly from: number;
  readonly to: number;
  /** Whether the field itself is there; else it is what it would be in. */
  readonly isThere: boolean;
}

type Path = YamlLine["path"];

// Deeper than any object that is read.
const LONGEST_PATH = 200;
// Findings about policies name what is below it.
const PLACES: readonly Path[] = [[], ["spec", "policy"], ["spec"]];

/** The lines of a field such as `spec.http[0].route`, as findings name it; undefined: no part of it is there. */
export function fieldLines(object: unknown, field: string): FieldLines | undefined {
  for (const place of PLACES) {
    const start = place.reduce<unknown>((value, name) => memberOf(value, name), object);
    const { path, isThere } = walked(start, field);
    if (path.length === 0) continue;
    const lines = yamlLines(object);
    const full = [...place, ...path];
    const from = lines.findIndex((line) => startsWith(line.path, full));
    if (from < 0) continue;
    let to = from;
    while (to < lines.length && startsWith(lines[to]?.path ?? [], full)) to++;
    return { lines, from, to, isThere };
  }
  return undefined;
}

/** A part of the lines around a field: its first lines, and the keys that it is below. `most`: lines of the field. */
export function excerptOf(
  { lines, from, to }: FieldLines,
  most: number,
): readonly { readonly line: YamlLine; readonly isOfField: boolean }[] {
  const start = lines[from]?.path ?? [];
  const above = lines.slice(0, from).filter(({ path, key }) => key !== "" && path.length < start.length && startsWith(start, path));
  return [
    ...above.map((line) => ({ line, isOfField: false })),
    ...lines.slice(from, Math.min(to, from + most)).map((line) => ({ line, isOfField: true })),
  ];
}

/** As far as there is something. Names of members may hold dots and brackets: the longest that is there counts. */
function walked(start: unknown, field: string): { readonly path: Path; readonly isThere: boolean } {
  const path: (string | number)[] = [];
  let [value, rest] = [start, field];
  while (rest !== "" && path.length < LONGEST_PATH) {
    if (Array.isArray(value)) {
      const end = rest.indexOf("]");
      const index = rest.startsWith("[") && end > 1 ? Number(rest.slice(1, end)) : Number.NaN;
      if (!Number.isInteger(index) || index < 0 || index >= value.length) return { path, isThere: false };
      path.push(index);
      value = value[index];
      rest = rest.slice(end + 1);
    } else {
      const text = rest.startsWith(".") ? rest.slice(1) : rest;
      const names = typeof value === "object" && value !== null ? Object.keys(value) : [];
      const fits = (name: string) => text.startsWith(name) && [undefined, ".", "["].includes(text[name.length]);
      const name = names.filter((one) => one !== "" && fits(one)).sort((a, b) => b.length - a.length)[0];
      if (name === undefined) return { path, isThere: false };
      path.push(name);
      value = memberOf(value, name);
      rest = text.slice(name.length);
    }
  }
  return { path, isThere: rest === "" };
}

function memberOf(value: unknown, name: string | number): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

function startsWith(path: Path, beginning: Path): boolean {
  return beginning.every((part, i) => path[i] === part);
}
