import {
  Composer,
  type CST,
  type Document,
  type DocumentOptions,
  isScalar,
  Lexer,
  LineCounter,
  type ParseOptions,
  Parser,
  type SchemaOptions,
  visit,
  YAMLParseError,
} from "yaml";
import { MAX_DEPTH } from "./limits.ts";
import { keptText } from "./text/keptText.ts";

export type YamlOptions = ParseOptions & DocumentOptions & SchemaOptions;

/** A YAML text that is nested so deeply, or is so large, that it is not read at all. */
export class YamlExcess extends Error {
  override readonly name = "YamlExcess";
  /** The line, from 1 on, as far as which it was read. */
  readonly line: number;

  constructor(problem: string, line: number) {
    super(problem);
    this.line = line;
  }
}

// An object's levels, and those of what it may stand in: a List, and its items.
const MAX_OPEN = MAX_DEPTH + 8;

/**
 * The documents of a YAML text, as the library's own `parseAllDocuments` gives them, but for one that is nested too deeply: the library
 * goes down by recursion, and where it compiles a regular expression on a stack that is nearly full, V8 ends the process: 2 KB of
 * `- - -` do that. Throws YamlExcess.
 */
export function yamlDocuments(text: string, options: YamlOptions): readonly Document.Parsed[] {
  const onNewLine = options.lineCounter?.addNewLine;
  // The library compares each key with all before it, which takes seconds for a hundred kilobytes of keys.
  const documents = [...new Composer({ ...options, uniqueKeys: false }).compose(boundedTokens(text, onNewLine))];
  if (options.uniqueKeys !== false) for (const document of documents) document.errors.push(...repeatedKeys(document));
  return documents;
}

/** Keys that a mapping holds twice: which of the values counts nobody knows. Merge keys may be repeated. */
function repeatedKeys(document: Document.Parsed): readonly YAMLParseError[] {
  const errors: YAMLParseError[] = [];
  visit(document, {
    Map(_, { items }) {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key) || key.value === "<<") continue;
        if (keys.has(key.value)) {
          const [start = 0, end = start] = key.range ?? [];
          errors.push(
            new YAMLParseError([start, end], "DUPLICATE_KEY", `Map keys must be unique: ${keptText(String(key.value), 80)} is repeated`),
          );
        }
        keys.add(key.value);
      }
    },
  });
  return errors;
}

/**
 * The value of a YAML text that holds one document. Throws YamlExcess, and SyntaxError for what is no YAML. Only the first mistake is
 * given its place: to look for it costs the whole text each time, and a hostile one makes a mistake of each character.
 */
export function yamlValue(text: string, { maxBytes, ...options }: YamlOptions & { readonly maxBytes: number }): unknown {
  if (new TextEncoder().encode(text).length > maxBytes) throw new YamlExcess(`is larger than ${maxBytes / 1024} KiB: make it smaller`, 1);
  const lineCounter = new LineCounter();
  const [document, second] = yamlDocuments(text, { ...options, lineCounter, prettyErrors: false });
  const [error] = document?.errors ?? [];
  if (error !== undefined) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    throw new SyntaxError(`${error.message} at line ${line}, column ${col}`);
  }
  if (second !== undefined) throw new SyntaxError("contains more than one document");
  // The library counts what aliases stand for, and refuses those that multiply.
  return document?.toJS();
}

function* boundedTokens(text: string, onNewLine?: (offset: number) => void): Generator<CST.Token, void> {
  onNewLine?.(0);
  const parser = new Parser(onNewLine);
  let line = 1;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === "\n" || lexeme === "\r\n") line++;
    yield* parser.next(lexeme);
    if (parser.stack.length > MAX_OPEN) throw new YamlExcess(`is nested deeper than ${MAX_DEPTH} levels: reduce its nesting`, line);
  }
  yield* parser.end();
}
