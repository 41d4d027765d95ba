/** A document as the fast reader read it. */
export interface BlockDocument {
  readonly value: unknown;
  /** The lines, counted from 0, on which the entries of the top-level `items` begin: a dump is one List. */
  readonly itemLines: readonly number[];
}

/** Lines of a text, from one up to but without another. */
export interface Lines {
  readonly lines: readonly string[];
  readonly from: number;
  readonly to: number;
}

/** Reads the lines of one entry of `items` that the fast reader is not sure of; undefined when they can't be read by themselves. */
export type ReadItem = (item: Lines) => { readonly value: unknown } | undefined;

/**
 * Reads one YAML document as programs write them: block style, simple scalars, literal blocks. Undefined whenever the text holds
 * anything else (anchors, flow style, folded text, mistakes, …): then the full reader decides. By hand, as the full reader takes
 * minutes and gigabytes for the dump of a large cluster, and this seconds.
 */
export function readBlock({ lines, from, to }: Lines, readItem: ReadItem): BlockDocument | undefined {
  let at = from;
  const itemLines: number[] = [];

  /** Moves on to the next line that is neither empty nor a comment. Its indentation; -1 at the end. */
  function nextIndent(): number {
    for (; at < to; at++) {
      const line = lines[at] ?? "";
      const indent = indentOf(line);
      const first = line.charCodeAt(indent);
      if (indent === line.length || first === HASH) continue;
      if (first === TAB) throw UNSURE;
      return indent;
    }
    return -1;
  }

  function node(indent: number): unknown {
    return isDash(lines[at] ?? "", indent) ? sequence(indent) : mapping(indent);
  }

  /** The first line is read from column `indent` on, whatever stands before it: the dash of a sequence. */
  function mapping(indent: number): unknown {
    const entries: Record<string, unknown> = {};
    for (;;) {
      const line = lines[at] ?? "";
      const found = keyIn(line, indent);
      if (found === undefined || Object.hasOwn(entries, found.key)) throw UNSURE;
      entries[found.key] = value(line.slice(found.end).trim(), indent, indent === 0 && found.key === "items");
      const next = nextIndent();
      if (next < indent) return entries;
      if (next > indent || isDash(lines[at] ?? "", indent)) throw UNSURE;
    }
  }

  function value(text: string, indent: number, isItems: boolean): unknown {
    at++;
    if (text.startsWith("|")) return literal(text, indent);
    const next = nextIndent();
    if (text === "") {
      const isSequence = next >= indent && isDash(lines[at] ?? "", next);
      if (isSequence) return isItems ? items(next) : sequence(next);
      return next > indent ? mapping(next) : null;
    }
    if (next > indent) throw UNSURE;
    return scalar(text);
  }

  function sequence(indent: number): readonly unknown[] {
    const found: unknown[] = [];
    do found.push(entry(indent));
    while (isNextEntry(indent));
    return found;
  }

  function entry(indent: number): unknown {
    const line = lines[at] ?? "";
    let column = indent + 1;
    while (line.charCodeAt(column) === SPACE) column++;
    if (column >= line.length) throw UNSURE;
    if (isDash(line, column)) return sequence(column);
    if (keyIn(line, column) !== undefined) return mapping(column);
    at++;
    const text = line.slice(column).trim();
    if (text.startsWith("|")) return literal(text, indent);
    if (nextIndent() > indent) throw UNSURE;
    return scalar(text);
  }

  function isNextEntry(indent: number): boolean {
    const next = nextIndent();
    if (next > indent) throw UNSURE;
    return next === indent && isDash(lines[at] ?? "", indent);
  }

  /** The entries of `items`: one that is unusual does not make the others slow. */
  function items(indent: number): readonly unknown[] {
    const found: unknown[] = [];
    do {
      const start = at;
      itemLines.push(start);
      try {
        found.push(entry(indent));
        // Whatever follows an entry that ended too early is unusual, too.
        if (nextIndent() > indent) throw UNSURE;
      } catch (error) {
        if (error !== UNSURE) throw error;
        found.push(unusual(start, indent));
      }
    } while (isNextEntry(indent));
    return found;
  }

  function unusual(start: number, indent: number): unknown {
    for (at = start + 1; at < to; at++) {
      const line = lines[at] ?? "";
      const lineIndent = indentOf(line);
      if (lineIndent <= indent && lineIndent < line.length && line.charCodeAt(lineIndent) !== HASH) break;
    }
    const read = readItem({ lines, from: start, to: at });
    if (read === undefined) throw UNSURE;
    return read.value;
  }

  function literal(header: string, indent: number): string {
    if (header !== "|" && header !== "|-") throw UNSURE;
    const text: string[] = [];
    let textIndent = -1;
    for (; at < to; at++) {
      const line = lines[at] ?? "";
      const lineIndent = indentOf(line);
      if (lineIndent === line.length) {
        if (lineIndent > Math.max(textIndent, indent)) throw UNSURE;
        text.push("");
        continue;
      }
      if (textIndent < 0) textIndent = lineIndent;
      if (textIndent <= indent) throw UNSURE;
      if (lineIndent < textIndent) break;
      text.push(line.slice(textIndent));
    }
    while (text.at(-1) === "") text.pop();
    if (text.length === 0) throw UNSURE;
    return header === "|" ? `${text.join("\n")}\n` : text.join("\n");
  }

  try {
    const indent = nextIndent();
    if (indent < 0) return { value: null, itemLines };
    const read = node(indent);
    return nextIndent() < 0 ? { value: read, itemLines } : undefined;
  } catch (error) {
    if (error === UNSURE) return undefined;
    throw error;
  }
}

// One object for all, as its stack is of no use and costs time.
const UNSURE = new Error("not in the style that the fast reader knows");

const [TAB, SPACE, HASH, DASH, COLON] = [0x09, 0x20, 0x23, 0x2d, 0x3a];

function indentOf(line: string): number {
  let indent = 0;
  while (line.charCodeAt(indent) === SPACE) indent++;
  return indent;
}

function isDash(line: string, column: number): boolean {
  return line.charCodeAt(column) === DASH && (line.length === column + 1 || line.charCodeAt(column + 1) === SPACE);
}

// Characters that begin something other than a plain scalar.
const INDICATORS = new Set([..."-?:,[]{}#&*!|>'\"%@`"]);

/** The key that stands at a column, and where what follows it begins; undefined when the line goes on with a scalar. */
function keyIn(line: string, column: number): { readonly key: string; readonly end: number } | undefined {
  const first = line[column] ?? "";
  if (first === '"' || first === "'") {
    const close = line.indexOf(first, column + 1);
    if (line.charCodeAt(close + 1) !== COLON || !isEnd(line, close + 2)) return undefined;
    const key = line.slice(column + 1, close);
    if (key.includes("\\") || SPECIAL_KEYS.has(key)) throw UNSURE;
    return { key, end: close + 2 };
  }
  let colon = line.indexOf(":", column);
  while (colon >= 0 && !isEnd(line, colon + 1)) colon = line.indexOf(":", colon + 1);
  if (colon < 0) return undefined;
  const key = line.slice(column, colon);
  if (INDICATORS.has(first) || key === "" || key.endsWith(" ") || key.includes(" #") || key.includes("\t") || SPECIAL_KEYS.has(key))
    throw UNSURE;
  return { key, end: colon + 1 };
}

// A merge, and what would change the object instead of being its member.
const SPECIAL_KEYS = new Set(["<<", "__proto__"]);

function isEnd(line: string, column: number): boolean {
  return column >= line.length || line.charCodeAt(column) === SPACE;
}

const ESCAPED = /^"(?:[^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"$/;
const UNESCAPED = /^'(?:[^']|'')*'$/;
const WORDS: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ...["~", "null", "Null", "NULL"].map((word) => [word, null] as const),
  ...["true", "True", "TRUE"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE"].map((word) => [word, false] as const),
]);
// Source: yaml.org/spec/1.2.2, the core schema.
const INTEGER = /^[-+]?[0-9]+$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const OTHER_NUMBER = /^(?:0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** A scalar that stands on one line. */
function scalar(text: string): unknown {
  const first = text[0] ?? "";
  if (text === "{}") return {};
  if (text === "[]") return [];
  if (first === '"') {
    if (!ESCAPED.test(text) || text.includes("\t")) throw UNSURE;
    return text.includes("\\") ? JSON.parse(text) : text.slice(1, -1);
  }
  if (first === "'") {
    if (!UNESCAPED.test(text)) throw UNSURE;
    return text.slice(1, -1).replaceAll("''", "'");
  }
  const second = text[1] ?? " ";
  const isPlain = !INDICATORS.has(first) || ("-?:".includes(first) && second !== " ");
  if (!isPlain || text.includes(" #") || text.includes("\t#") || text.includes(": ") || text.includes(":\t") || text.endsWith(":"))
    throw UNSURE;
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  if (INTEGER.test(text)) return Number.parseInt(text, 10);
  if (FLOAT.test(text)) return Number(text);
  if (OTHER_NUMBER.test(text)) throw UNSURE;
  return text;
}
