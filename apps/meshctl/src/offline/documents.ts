import { messageOf } from "@isthmus/core";
import { YamlExcess, yamlDocuments } from "@isthmus/core/yaml";
import { type Alias, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Pair, visit, type Document as YamlDocument } from "yaml";
import type { InputFile } from "./inputFiles.ts";
import { splitJson } from "./splitJson.ts";

/** One document of an input file, as data. */
export interface InputDocument {
  readonly file: string;
  /** Counts from 1 within its file, empty documents included. */
  readonly number: number;
  readonly value: unknown;
  /** The 1-based line on which the member at `path` begins, with its key; that of its nearest ancestor that the text holds. */
  lineOf(path: readonly (string | number)[]): number;
}

/** A document that is not YAML, not JSON, or not what it must be. */
export interface Unreadable {
  readonly file: string;
  readonly number: number;
  readonly line: number;
  readonly problem: string;
}

export interface Parsed {
  readonly documents: readonly InputDocument[];
  readonly unreadable: readonly Unreadable[];
}

/** Reads all documents of a file; empty ones are left out. */
export function parseDocuments(file: InputFile): Parsed {
  return parseJson(file) ?? parseYaml(file);
}

/**
 * JSON is an order of magnitude faster to read than YAML. Undefined when the text is not JSON throughout: YAML in flow style
 * begins with a brace as well. A file that calls itself `.json` must be what it says.
 */
function parseJson({ name, text }: InputFile): Parsed | undefined {
  const pieces = splitJson(text);
  if (pieces === undefined) return undefined;
  const documents: InputDocument[] = [];
  const unreadable: Unreadable[] = [];
  for (const [index, piece] of pieces.entries()) {
    try {
      const tree = once(() => treeOf(piece.text));
      const value: unknown = JSON.parse(piece.text);
      documents.push({ file: name, number: index + 1, value, lineOf: (path) => piece.line - 1 + lineIn(tree(), path) });
    } catch (error) {
      if (!name.endsWith(".json")) return undefined;
      unreadable.push({ file: name, number: index + 1, line: piece.line + linesBefore(piece.text, error), problem: messageOf(error) });
    }
  }
  return { documents, unreadable };
}

/** How many lines of a text stand before the place that JSON.parse complains of; 0 when it names none. */
function linesBefore(text: string, error: unknown): number {
  const position = Number(/ at position (\d+)/.exec(messageOf(error))?.[1] ?? 0);
  return text.slice(0, position).split("\n").length - 1;
}

function parseYaml({ name, text }: InputFile): Parsed {
  const documents: InputDocument[] = [];
  const unreadable: Unreadable[] = [];
  let found: readonly Tree[];
  try {
    found = parseTrees(text);
  } catch (error) {
    if (!(error instanceof YamlExcess)) throw error;
    return { documents, unreadable: [{ file: name, number: 1, line: error.line, problem: error.message }] };
  }
  const trees = once(() => parseTrees(text));
  for (const [index, tree] of found.entries()) {
    const number = index + 1;
    try {
      const [error] = tree.document.errors;
      if (error !== undefined) {
        const { line, col } = tree.lines.linePos(error.pos[0]);
        unreadable.push({ file: name, number, line, problem: `${error.message} (column ${col})` });
        continue;
      }
      const value: unknown = tree.document.toJS();
      if (value === null || value === undefined) continue;
      documents.push({ file: name, number, value, lineOf: (path) => lineIn(trees()[index], path) });
    } catch (error) {
      // An alias without its anchor, or so many aliases that the document would fill the memory.
      unreadable.push({ file: name, number, ...aliasProblem(tree, error) });
    }
  }
  return { documents, unreadable };
}

/** What is wrong with a document whose aliases can't be followed, at the first of them that stands for nothing. */
function aliasProblem(tree: Tree, error: unknown): Pick<Unreadable, "line" | "problem"> {
  const anchors = new Set<string>();
  let lost: Alias | undefined;
  visit(tree.document, {
    Node(_, node) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.add(node.anchor);
        return undefined;
      }
      if (anchors.has(node.source)) return undefined;
      lost = node;
      return visit.BREAK;
    },
  });
  if (lost?.range === undefined || lost.range === null) return { line: lineIn(tree, []), problem: messageOf(error) };
  const problem = `alias *${lost.source} has no anchor &${lost.source} before it in this document`;
  return { line: tree.lines.linePos(lost.range[0]).line, problem };
}

interface Tree {
  readonly document: YamlDocument.Parsed;
  readonly lines: LineCounter;
}

function parseTrees(text: string): readonly Tree[] {
  const lines = new LineCounter();
  // `merge`: Kubernetes' own reader knows merge keys. `prettyErrors`: we name places ourselves.
  const parsed = yamlDocuments(text, { lineCounter: lines, merge: true, prettyErrors: false, stringKeys: true });
  return parsed.map((document) => ({ document, lines }));
}

/** The tree of a JSON text, if it is not nested so deeply that nothing but its beginning can be named. */
function treeOf(text: string): Tree | undefined {
  try {
    return parseTrees(text)[0];
  } catch (error) {
    if (error instanceof YamlExcess) return undefined;
    throw error;
  }
}

function lineIn(tree: Tree | undefined, path: readonly (string | number)[]): number {
  if (tree === undefined) return 1;
  let node: unknown = tree.document.contents;
  let offset = isNode(node) ? node.range?.[0] : undefined;
  for (const step of path) {
    const { key, value }: Partial<Pair> = isMap(node)
      ? (node.items.find((pair) => isScalar(pair.key) && pair.key.value === step) ?? {})
      : {};
    node = isSeq(node) ? node.get(step, true) : value;
    const begin = isNode(key) ? key : node;
    if (!isNode(begin)) break;
    offset = begin.range?.[0] ?? offset;
  }
  return offset === undefined ? 1 : tree.lines.linePos(offset).line;
}

/** Trees are kept only for documents that a message is about: they are many times as large as the values. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
