import { visibleText } from "./visibleText.ts";

/** One line of YAML, in parts that are shown differently. */
export interface YamlLine {
  readonly indent: string;
  /** With its colon; "" when there is none. */
  readonly key: string;
  readonly value: string;
  /** Where it stands: members by their names, items by their index. */
  readonly path: readonly (string | number)[];
}

// Deeper ones are refused wherever objects are read.
const MAX_DEPTH = 200;
const PLAIN = /^[A-Za-z_/][\w./-]*$/;
const RESERVED: ReadonlySet<string> = new Set(["true", "false", "null", "yes", "no", "on", "off", "y", "n"]);

/** A JSON value as YAML 1.2, line by line. Strings that could be read as something else, or hold what cannot be seen, are quoted. */
export function yamlLines(value: unknown): readonly YamlLine[] {
  const lines: YamlLine[] = [];
  write(lines, value, { indent: "", key: "", path: [] });
  return lines;
}

/** A JSON value as YAML text. */
export function yamlText(value: unknown): string {
  return yamlLines(value)
    .map(({ indent, key, value: text }) => `${indent}${key}${key !== "" && text !== "" ? " " : ""}${text}\n`)
    .join("");
}

interface Position {
  readonly indent: string;
  readonly key: string;
  readonly path: YamlLine["path"];
}

function write(lines: YamlLine[], value: unknown, { indent, key, path }: Position): void {
  const depth = path.length;
  const inner = key === "" ? indent : `${" ".repeat(indent.length)}  `;
  if (depth < MAX_DEPTH && Array.isArray(value) && value.length > 0) {
    if (key !== "") lines.push({ indent, key, value: "", path });
    // A list stands below its key without more space, as kubectl writes it.
    const at = key === "" ? inner : " ".repeat(indent.length);
    for (const [i, item] of value.entries()) {
      const dash = `${key === "" && i === 0 ? at : " ".repeat(at.length)}- `;
      write(lines, item, { indent: dash, key: "", path: [...path, i] });
    }
    return;
  }
  const entries = depth < MAX_DEPTH && typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
  const defined = entries.filter(([, member]) => member !== undefined);
  if (defined.length > 0) {
    if (key !== "") lines.push({ indent, key, value: "", path });
    for (const [i, [name, member]] of defined.entries()) {
      const at = i === 0 ? inner : " ".repeat(inner.length);
      write(lines, member, { indent: at, key: `${scalar(name)}:`, path: [...path, name] });
    }
    return;
  }
  lines.push({ indent, key, value: scalar(value), path });
}

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  if (PLAIN.test(value) && !RESERVED.has(value.toLowerCase())) return value;
  // JSON is YAML; what it leaves as it is and nobody sees is escaped as well.
  return visibleText(JSON.stringify(value));
}
