import { messageOf } from "@isthmus/core";
import { YamlExcess, yamlDocuments } from "@isthmus/core/yaml";
import { type Alias, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Pair, visit, type Document as YamlDocument } from "yaml";
import type { InputFile } from "./inputFiles.ts";
import { type JsonPiece, splitJson } from "./splitJson.ts";
import { offsetIn } from "./yaml/eventLines.ts";
import { jsonItemOffsets } from "./yaml/jsonItems.ts";
import { lineLookup } from "./yaml/lines.ts";
import { quickList } from "./yaml/quickList.ts";
import { quickProblem, quickYaml } from "./yaml/quickYaml.ts";
import { splitYaml, type YamlPiece } from "./yaml/splitYaml.ts";

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

/** Called with each document before it is read: how many were read before it. */
export type OnDocument = (count: number) => void;

/** Reads all documents of a file; empty ones are left out. */
export function parseDocuments(file: Pick<InputFile, "name" | "text">, onDocument: OnDocument = () => undefined): Parsed {
  return parseJson(file, onDocument) ?? parseYaml(file, onDocument);
}

/**
 * JSON is an order of magnitude faster to read than YAML. Undefined when the text is not JSON throughout: YAML in flow style
 * begins with a brace as well. A file that calls itself `.json` must be what it says.
 */
function parseJson({ name, text }: Pick<InputFile, "name" | "text">, onDocument: OnDocument): Parsed | undefined {
  const pieces = splitJson(text);
  if (pieces === undefined) return undefined;
  const documents: InputDocument[] = [];
  const unreadable: Unreadable[] = [];
  for (const [index, piece] of pieces.entries()) {
    onDocument(index);
    try {
      const value: unknown = JSON.parse(piece.text);
      documents.push({ file: name, number: index + 1, value, lineOf: lineIn(piece, () => jsonItemOffsets(piece.text)) });
    } catch (error) {
      if (!name.endsWith(".json")) return undefined;
      unreadable.push({ file: name, number: index + 1, line: piece.line + linesBefore(piece.text, error), problem: messageOf(error) });
    }
  }
  return { documents, unreadable };
}

/** Finds the lines of members of a piece of a file. What it takes to find them is made once, and only when a line is asked for. */
function lineIn({ text, line }: JsonPiece, itemOffsets: () => readonly number[]): InputDocument["lineOf"] {
  const offsets = once(itemOffsets);
  const lineAt = lineLookup(text);
  return (path) => line - 1 + lineAt(offsetIn(text, { itemOffsets: offsets() }, path));
}

/** How many lines of a text stand before the place that JSON.parse complains of; 0 when it names none. */
function linesBefore(text: string, error: unknown): number {
  const position = Number(/ at position (\d+)/.exec(messageOf(error))?.[1] ?? 0);
  return text.slice(0, position).split("\n").length - 1;
}

/** Documents by themselves, each as fast as may be; the text as a whole where it can't be divided without reading it. */
function parseYaml({ name, text }: Pick<InputFile, "name" | "text">, onDocument: OnDocument): Parsed {
  const pieces = splitYaml(text);
  if (pieces === undefined) return parseSlowly(name, { text, line: 1 }, 1);
  const documents: InputDocument[] = [];
  const unreadable: Unreadable[] = [];
  for (const [index, piece] of pieces.entries()) {
    onDocument(index);
    const quick = quickList(piece.text, slowItem) ?? quickYaml(piece.text);
    if (quick === undefined) {
      const slow = parseSlowly(name, piece, index + 1);
      documents.push(...slow.documents);
      unreadable.push(...slow.unreadable);
    } else if (quick.value !== null && quick.value !== undefined) {
      documents.push({ file: name, number: index + 1, value: quick.value, lineOf: lineIn(piece, () => quick.itemOffsets) });
    }
  }
  return { documents, unreadable };
}

/** An item of a List with the dash before it, read by itself; undefined where that is not right, or not all. */
function slowItem(text: string): unknown {
  if (text.length > SLOWLY_AT_MOST) return undefined;
  const { documents, unreadable } = parseSlowly("", { text, line: 1 }, 1);
  return unreadable.length === 0 && documents.length === 1 ? documents[0]?.value : undefined;
}

// In so many characters, the slow reader takes a quarter of a minute and 400 MB.
const SLOWLY_AT_MOST = 8 * 1024 * 1024;

/** What is not right, which this reader names, and what few people write. `number`: of the first document. */
function parseSlowly(name: string, { text, line: firstLine }: YamlPiece, number: number): Parsed {
  const documents: InputDocument[] = [];
  const unreadable: Unreadable[] = [];
  const place = (index: number, line: number) => ({ file: name, number: number + index, line: firstLine - 1 + line });
  if (text.length > SLOWLY_AT_MOST) {
    const { line, problem } = quickProblem(text);
    return { documents, unreadable: [{ ...place(0, line), problem }] };
  }
  let found: readonly Tree[];
  try {
    found = parseTrees(text);
  } catch (error) {
    if (!(error instanceof YamlExcess)) throw error;
    return { documents, unreadable: [{ ...place(0, error.line), problem: error.message }] };
  }
  const trees = once(() => parseTrees(text));
  for (const [index, tree] of found.entries()) {
    try {
      const [error] = tree.document.errors;
      if (error !== undefined) {
        const { line, col } = tree.lines.linePos(error.pos[0]);
        // `{{ … }}` of Helm is a map whose key is a map.
        const problem = error.code === "NON_STRING_KEY" && isTemplate(text, error.pos[0]) ? TEMPLATE : `${error.message} (column ${col})`;
        unreadable.push({ ...place(index, line), problem });
        continue;
      }
      const value: unknown = tree.document.toJS();
      if (value === null || value === undefined) continue;
      const { file, number: own } = place(index, 1);
      documents.push({ file, number: own, value, lineOf: (path) => firstLine - 1 + lineInTree(trees()[index], path) });
    } catch (error) {
      // An alias without its anchor, or so many aliases that the document would fill the memory.
      const { line, problem } = aliasProblem(tree, error);
      unreadable.push({ ...place(index, line), problem });
    }
  }
  return { documents, unreadable };
}

/** Whether two braces begin a value here, or before in the same line. */
function isTemplate(text: string, at: number): boolean {
  return text.slice(text.lastIndexOf("\n", at) + 1, at + 2).includes("{{");
}

const TEMPLATE = "looks like a template of Helm: render it first: helm template CHART | meshctl validate -";

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
  if (lost?.range === undefined || lost.range === null) return { line: lineInTree(tree, []), problem: messageOf(error) };
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

function lineInTree(tree: Tree | undefined, path: readonly (string | number)[]): number {
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
