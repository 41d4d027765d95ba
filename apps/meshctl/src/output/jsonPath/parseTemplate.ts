import { UsageError } from "@isthmus/core";
import { type Filter, OPERATORS, type Operator, type Path, type PathStep, type Template, type TemplatePart } from "./template.ts";

/**
 * Reads a JSONPath template of kubectl: text, and in braces paths, quoted text, `{range PATH}` and `{end}`. Throws UsageError with the position of
 * what is wrong, counted from 1. Source: kubernetes.io/docs/reference/kubectl/jsonpath.
 */
export function parseTemplate(source: string): Template {
  if (source.length > LONGEST) throw new UsageError(`jsonpath: the template has ${source.length} characters, more than ${LONGEST}`);
  return new Parser(source).template(0);
}

// Neither is reached by a template that a person writes.
const LONGEST = 16_384;
const MOST_NESTED = 16;

/** What ends a name, unless a backslash is before it. */
const ENDS_NAME = " \t\r\n.,[]$@{}";
/** The same in a filter. */
const ENDS_NAME_IN_FILTER = `${ENDS_NAME}!=<>()"'`;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["\\", "\\"],
  ['"', '"'],
  ["'", "'"],
]);

class Parser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Parts up to the end, or in a range up to its `{end}`. */
  template(depth: number, rangeAt?: number): Template {
    const parts: TemplatePart[] = [];
    while (this.#at < this.#source.length) {
      const start = this.#at;
      if (!this.#take("{")) {
        const brace = this.#source.indexOf("{", start);
        this.#at = brace < 0 ? this.#source.length : brace;
        parts.push({ text: this.#source.slice(start, this.#at) });
        continue;
      }
      this.#skipSpaces();
      if (this.#takeWord("end")) {
        this.#close();
        if (rangeAt === undefined) throw this.#wrong("{end} without a {range} before it", start);
        return parts;
      }
      parts.push(this.#action(depth, start));
    }
    if (rangeAt !== undefined) throw this.#wrong("{range} without an {end} after it", rangeAt);
    return parts;
  }

  /** What is in braces, with the closing one. */
  #action(depth: number, start: number): TemplatePart {
    if (this.#takeWord("range")) {
      if (depth >= MOST_NESTED) throw this.#wrong(`more than ${MOST_NESTED} ranges in each other`, start);
      const range = this.#path(0, ENDS_NAME);
      this.#close();
      return { range, body: this.template(depth + 1, start) };
    }
    const quote = this.#peek();
    if (quote === '"' || quote === "'") {
      const text = this.#quoted();
      this.#close();
      return { text };
    }
    const path = this.#path(0, ENDS_NAME);
    this.#close();
    return { path };
  }

  #close(): void {
    this.#skipSpaces();
    if (!this.#take("}")) throw this.#unexpected("a closing }");
  }

  #path(depth: number, ends: string): Path {
    if (depth > MOST_NESTED) throw this.#wrong(`more than ${MOST_NESTED} filters in each other`);
    const steps: PathStep[] = [];
    for (;;) {
      this.#skipSpaces();
      // The current value, as kubectl has it: in a filter the item, elsewhere the object or the item of the range.
      if (this.#take("@") || this.#take("$")) continue;
      if (this.#take("..")) {
        steps.push({ descend: true });
        if (!ends.includes(this.#peek()) && this.#peek() !== "") steps.push(this.#name(ends));
      } else if (this.#take(".")) steps.push(this.#name(ends));
      else if (this.#take("[")) steps.push(...this.#brackets(depth));
      else return steps;
    }
  }

  /** A field, or `*` for all. */
  #name(ends: string): PathStep {
    const start = this.#at;
    let name = "";
    let isEscaped = false;
    while (this.#at < this.#source.length && !ends.includes(this.#peek())) {
      if (this.#take("\\")) isEscaped = true;
      name += this.#next();
    }
    if (name === "") throw this.#wrong("a name is missing after the dot", start);
    return name === "*" && !isEscaped ? { every: true } : { field: name };
  }

  #brackets(depth: number): Path {
    const start = this.#at - 1;
    if (this.#take("?(")) {
      const filter = this.#filter(depth);
      if (!this.#take(")")) throw this.#unexpected("a closing ) of the filter");
      if (!this.#take("]")) throw this.#unexpected("a closing ]");
      return [{ filter }];
    }
    const choices: Path[] = [];
    do {
      this.#skipSpaces();
      choices.push(this.#take("'") ? this.#key() : [this.#slice(start)]);
      this.#skipSpaces();
    } while (this.#take(","));
    if (!this.#take("]")) throw this.#unexpected("a number, a slice, * or a key in single quotes, and a closing ]");
    const [only = []] = choices;
    return choices.length === 1 ? only : [{ union: choices }];
  }

  /** A key in brackets is a path of names, as kubectl has it: `['metadata.name']`. A dot of a name has a backslash before it. */
  #key(): Path {
    const names: PathStep[] = [];
    do names.push(this.#name(".'"));
    while (this.#take("."));
    if (!this.#take("'")) throw this.#unexpected("a closing '");
    return names;
  }

  #slice(start: number): PathStep {
    if (this.#take("*")) return { from: 0, step: 1, isIndex: false };
    const from = this.#integer();
    if (!this.#take(":")) {
      if (from === undefined) throw this.#unexpected("a number, a slice, * or a key in single quotes");
      return { from, step: 1, isIndex: true };
    }
    const to = this.#integer();
    const step = this.#take(":") ? (this.#integer() ?? 1) : 1;
    if (step < 1) throw this.#wrong("the step of a slice is at least 1", start);
    return { from: from ?? 0, ...(to === undefined ? {} : { to }), step, isIndex: false };
  }

  #integer(): number | undefined {
    const digits = this.#takeMatch(INTEGER);
    return digits === undefined ? undefined : Number(digits);
  }

  #filter(depth: number): Filter {
    const start = this.#at;
    const left = this.#path(depth + 1, ENDS_NAME_IN_FILTER);
    if (this.#at === start) throw this.#unexpected("a path such as @.name in the filter");
    const operator = OPERATORS.find((each) => this.#take(each));
    if (operator === undefined) return { left };
    return { left, test: { operator, right: this.#operand(depth, operator) } };
  }

  #operand(depth: number, operator: Operator): Path | { readonly literal: string | number | boolean } {
    this.#skipSpaces();
    const quote = this.#peek();
    const literal = quote === '"' || quote === "'" ? this.#quoted() : this.#plainLiteral();
    if (literal !== undefined) {
      this.#skipSpaces();
      return { literal };
    }
    const start = this.#at;
    const path = this.#path(depth + 1, ENDS_NAME_IN_FILTER);
    if (this.#at === start) throw this.#unexpected(`a number, true, false, quoted text or a path after ${operator}`);
    return path;
  }

  #plainLiteral(): number | boolean | undefined {
    if (this.#takeWord("true")) return true;
    if (this.#takeWord("false")) return false;
    const digits = this.#takeMatch(NUMBER);
    return digits === undefined ? undefined : Number(digits);
  }

  #quoted(): string {
    const start = this.#at;
    const quote = this.#next();
    let text = "";
    for (;;) {
      if (this.#at >= this.#source.length) throw this.#wrong("quoted text without an end", start);
      const character = this.#next();
      if (character === quote) return text;
      if (character !== "\\") {
        text += character;
        continue;
      }
      const escaped = this.#next();
      const meant = ESCAPES.get(escaped);
      if (meant === undefined) throw this.#wrong(`\\${escaped} means nothing in quoted text`, this.#at - 2);
      text += meant;
    }
  }

  #peek(): string {
    return this.#source.charAt(this.#at);
  }

  #next(): string {
    return this.#source.charAt(this.#at++);
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  /** Takes a word that is no part of a longer one. */
  #takeWord(word: string): boolean {
    const after = this.#source.charAt(this.#at + word.length);
    return (after === "" || ENDS_NAME_IN_FILTER.includes(after)) && this.#take(word);
  }

  #takeMatch(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [text] = pattern.exec(this.#source) ?? [];
    if (text !== undefined) this.#at += text.length;
    return text;
  }

  #skipSpaces(): void {
    while (this.#take(" ") || this.#take("\t"));
  }

  #unexpected(expected: string): UsageError {
    const found = this.#at < this.#source.length ? `not ${this.#peek()}` : "not the end";
    return this.#wrong(`expected ${expected}, ${found}`);
  }

  #wrong(problem: string, at = this.#at): UsageError {
    return new UsageError(`jsonpath, character ${at + 1}: ${problem}`);
  }
}

// From where the parser is, so that no text is looked at twice.
const INTEGER = /-?\d{1,15}/y;
const NUMBER = /[+-]?\d{1,15}(\.\d{1,15})?/y;
