/** One condition of a filter: the member `key` has one of `values`, or, negated, none of them. */
export interface FilterToken {
  readonly key: string;
  readonly values: readonly string[];
  readonly isNegated?: true;
}

/** What a person typed to narrow a table: all tokens and all words must match. */
export interface Filter {
  readonly tokens: readonly FilterToken[];
  readonly words: readonly string[];
  /** Words that must not be there. */
  readonly negatedWords?: readonly string[];
}

/** What a row can be found by. */
export interface Filterable {
  /** By key, in lower case; a key that a row lacks matches nothing, negated or not. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  /** In which words are looked for, in lower case. */
  readonly text: string;
}

// Longer ones are no words of a person.
const LONGEST_FILTER = 2_000;

/**
 * Reads `cluster:c1 ns:bookinfo,batch -type:access reviews`. A part with a space, comma, colon or quote stands in double quotes, with `\` before a quote or `\`; `-` or `!` before a token or a word
 * negates it. Never throws.
 */
export function parseFilter(text: string): Filter {
  const tokens: FilterToken[] = [];
  const words: string[] = [];
  const negatedWords: string[] = [];
  for (const { parts, isNegated } of groupsOf(text.slice(0, LONGEST_FILTER))) {
    const [first, second, ...rest] = parts;
    if (first === undefined) continue;
    if (second?.separator === ":") {
      const values = [second, ...rest].map(({ text: value }) => value).filter((value) => value !== "");
      if (values.length > 0) tokens.push({ key: first.text.toLowerCase(), values, ...(isNegated ? { isNegated } : {}) });
      // What is being typed filters nothing yet.
      continue;
    }
    for (const { text: word } of parts) if (word !== "") (isNegated ? negatedWords : words).push(word);
  }
  return { tokens, words, ...(negatedWords.length === 0 ? {} : { negatedWords }) };
}

/** The text that `parseFilter` reads as this filter. */
export function formatFilter({ tokens, words, negatedWords = [] }: Filter): string {
  const ofTokens = tokens.map(({ key, values, isNegated }) => `${isNegated ? "-" : ""}${quoted(key)}:${values.map(quoted).join(",")}`);
  return [...ofTokens, ...words.map(quoted), ...negatedWords.map((word) => `-${quoted(word)}`)].join(" ");
}

/** Whether a filter lets everything through. */
export function isEmptyFilter({ tokens, words, negatedWords = [] }: Filter): boolean {
  return tokens.length + words.length + negatedWords.length === 0;
}

/** The first key of a filter that nothing here can be found by, if any. */
export function unknownKeyOf({ tokens }: Filter, keys: readonly string[]): string | undefined {
  return tokens.find(({ key }) => !keys.includes(key))?.key;
}

/** Whether a row matches all of a filter. A value with `*` at its end matches what begins with it. */
export function matchesFilter(filter: Filter, row: Filterable): boolean {
  return (
    filter.tokens.every(({ key, values, isNegated = false }) => {
      const has = row.fields.get(key);
      // What nothing is known of is not what it is not.
      return (
        has !== undefined && isNegated !== values.some((value) => has.some((one) => matchesValue(value.toLowerCase(), one.toLowerCase())))
      );
    }) &&
    filter.words.every((word) => row.text.includes(word.toLowerCase())) &&
    (filter.negatedWords ?? []).every((word) => !row.text.includes(word.toLowerCase()))
  );
}

function matchesValue(pattern: string, value: string): boolean {
  return pattern.endsWith("*") ? value.startsWith(pattern.slice(0, -1)) : value === pattern;
}

function quoted(text: string): string {
  const isPlain = text !== "" && !isNegation(text[0]) && ![...text].some((char) => char.trim() === "" || ',:"\\'.includes(char));
  return isPlain ? text : `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function isNegation(char: string | undefined): boolean {
  return char === "-" || char === "!";
}

interface Part {
  readonly separator: "" | ":" | ",";
  readonly text: string;
}

/** Parts without space between them. */
interface Group {
  readonly parts: readonly Part[];
  readonly isNegated: boolean;
}

/** Read by hand: no expression that could backtrack sees what others put into a link. */
function groupsOf(text: string): readonly Group[] {
  const groups: Group[] = [];
  let group: Part[] = [];
  let isNegated = false;
  let part = "";
  let separator: Part["separator"] = "";
  let isQuoted = false;
  let hasPart = false;
  const endPart = (): void => {
    if (hasPart || separator !== "") group.push({ separator, text: part });
    [part, hasPart] = ["", false];
  };
  const endGroup = (): void => {
    endPart();
    if (group.length > 0) groups.push({ parts: group, isNegated });
    [group, separator, isNegated] = [[], "", false];
  };
  const chars = [...text];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] ?? "";
    if (isQuoted) {
      if (char === "\\" && i + 1 < chars.length) part += chars[++i] ?? "";
      else if (char === '"') isQuoted = false;
      else part += char;
    } else if (char === '"') {
      [isQuoted, hasPart] = [true, true];
    } else if (isNegation(char) && !hasPart && !isNegated && group.length === 0) {
      isNegated = true;
    } else if (char === ":" && group.length === 0) {
      endPart();
      separator = ":";
    } else if (char === "," && group.length > 0) {
      endPart();
      separator = ",";
    } else if (char.trim() === "") {
      endGroup();
    } else {
      part += char;
      hasPart = true;
    }
  }
  endGroup();
  return groups;
}
