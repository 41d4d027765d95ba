import { posix } from "node:path";
import ts from "typescript";
import type { CheckResult } from "./checkResult.ts";
import { commentsOf, titlesOf } from "./commentsOf.ts";
import { withoutCodeBlocks } from "./documents.ts";
import { exportsOf, membersOf } from "./exportsOf.ts";
import { lineOf, parseSource } from "./importsOf.ts";
import { packageTable } from "./packageTable.ts";
import { isTypeScript, placeOf, type SourceTree } from "./sourceTree.ts";

/** What the language check refuses. All words are in lower case; a plural in -s or -ies counts as its singular. */
export interface LanguageRules {
  /** Exported names that several files may declare, each with the reason. */
  readonly sharedNames: Readonly<Record<string, string>>;
  /** Words, or sequences of words, that exported names, members of exported types, files, folders and fields of log lines no longer have, each with its replacement. */
  readonly retiredNames: Readonly<Record<string, string>>;
  /** Words, or sequences of words, that documents, strings of the source, comments and titles of tests no longer have, each with its replacement. */
  readonly retiredProse: Readonly<Record<string, string>>;
  /** Members of exported types that keep a retired word, each with the reason. */
  readonly keptMembers: Readonly<Record<string, string>>;
}

// It lists the retired words, so it has to spell them.
const GLOSSARY = "docs/glossary.md";
const LISTS_WORDS: ReadonlySet<string> = new Set(["tools/language.ts", "tools/checkLanguage.ts", "tools/checkLanguage.test.ts"]);

/**
 * Refuses an exported name that several files of packages and apps declare, and retired words in exported names, paths, documents,
 * string literals of the source, comments and titles of tests. `documents` are Markdown texts by path.
 */
export function checkLanguage(tree: SourceTree, documents: ReadonlyMap<string, string>, rules: LanguageRules): CheckResult {
  const declared = declaredNames(tree);
  const problems = [
    ...duplicateNames(declared, rules),
    ...retiredInExports(declared, rules),
    ...retiredInMembers(tree, rules),
    ...retiredInPaths(tree, rules),
    ...retiredInStrings(tree, rules),
    ...retiredInComments(tree, rules),
    ...retiredInDocuments(documents, rules),
    ...glossaryProblems(documents, rules),
  ];
  // A checker that looks at nothing finds nothing wrong.
  if (declared.size === 0) problems.push("no exported name was found");
  return { summary: `${declared.size} exported names, ${documents.size} documents`, problems };
}

/** Each exported name of packages and apps with the places that declare it, such as `packages/core/src/ref.ts:12`. */
function declaredNames(tree: SourceTree): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>();
  for (const [path, text] of tree) {
    if (!isSource(path) || posix.basename(path) === "index.ts") continue;
    for (const { name, line } of exportsOf(path, text)) {
      const known = places.get(name);
      if (known === undefined) places.set(name, [`${path}:${line}`]);
      else known.push(`${path}:${line}`);
    }
  }
  return new Map([...places].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function duplicateNames(declared: ReadonlyMap<string, readonly string[]>, { sharedNames }: LanguageRules): readonly string[] {
  const problems: string[] = [];
  for (const [name, places] of declared) {
    if (places.length < 2 || Object.hasOwn(sharedNames, name)) continue;
    problems.push(`${name} is exported from ${places.join(", ")}: rename all but one, or give a reason in tools/language.ts`);
  }
  for (const name of Object.keys(sharedNames)) {
    if ((declared.get(name)?.length ?? 0) < 2)
      problems.push(`tools/language.ts: sharedNames lists ${name}, which at most one file exports: remove it`);
  }
  return problems;
}

function retiredInExports(declared: ReadonlyMap<string, readonly string[]>, { retiredNames }: LanguageRules): readonly string[] {
  const retired = phrases(retiredNames);
  return [...declared].flatMap(([name, places]) =>
    found(wordsOf(name), retired).map(({ phrase, replacement }) => `${places.join(", ")}: ${name}: "${phrase}" is retired: ${replacement}`),
  );
}

/** In members of exported types: other files use them as they use exported names. */
function retiredInMembers(tree: SourceTree, { retiredNames, keptMembers }: LanguageRules): readonly string[] {
  const retired = phrases(retiredNames);
  const kept = new Set<string>();
  const problems: string[] = [];
  for (const [path, text] of tree) {
    if (!isSource(path)) continue;
    for (const { name, line } of membersOf(path, text)) {
      for (const { phrase, replacement } of found(wordsOf(name), retired)) {
        if (Object.hasOwn(keptMembers, name)) kept.add(name);
        else problems.push(`${path}:${line}: member ${name}: "${phrase}" is retired: ${replacement}`);
      }
    }
  }
  for (const name of Object.keys(keptMembers)) {
    if (!kept.has(name)) problems.push(`tools/language.ts: keptMembers lists ${name}, which no exported type has: remove it`);
  }
  return problems;
}

function retiredInPaths(tree: SourceTree, { retiredNames }: LanguageRules): readonly string[] {
  const retired = phrases(retiredNames);
  const names = new Set<string>();
  for (const path of tree.keys()) {
    const parts = path.split("/");
    // A folder is reported once, not once for each of its files.
    for (let end = 1; end <= parts.length; end++) names.add(parts.slice(0, end).join("/"));
  }
  return [...names].flatMap((path) =>
    found(wordsOf(posix.basename(path)), retired).map(({ phrase, replacement }) => `${path}: "${phrase}" is retired: ${replacement}`),
  );
}

function retiredInStrings(tree: SourceTree, { retiredProse, retiredNames }: LanguageRules): readonly string[] {
  const retired = prosePatterns(retiredProse);
  const names = phrases(retiredNames);
  const problems: string[] = [];
  for (const [path, text] of tree) {
    // Strings of packages that only tests import are titles of tests.
    if (!isSource(path) || packageTable[placeOf(path).name]?.testsOnly) continue;
    const source = parseSource(path, text);
    const visit = (node: ts.Node): void => {
      if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
      const line = logLineOf(node);
      for (const { phrase, replacement } of (line?.fields ?? []).flatMap((field) => found(wordsOf(field), names)))
        problems.push(`${path}:${lineOf(source, node)}: "${phrase}" is retired: ${replacement}`);
      const literal = proseOf(node) ?? line?.word;
      if (literal !== undefined) {
        for (const { match, replacement } of proseIn(literal, retired))
          problems.push(`${path}:${lineOf(source, node)}: "${match}" is retired: ${replacement}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return problems;
}

/** In comments of all files, and in titles of tests. */
function retiredInComments(tree: SourceTree, { retiredProse }: LanguageRules): readonly string[] {
  const retired = prosePatterns(retiredProse);
  const problems: string[] = [];
  for (const [path, text] of tree) {
    // To parse takes long, and most files have none of the words. A sentence may wrap, and then has the mark of a comment in it.
    if (!isTypeScript(path) || LISTS_WORDS.has(path) || proseIn(text.replace(/\n\s*(?:\/\/|\*)/g, "\n"), retired).length === 0) continue;
    const texts = [
      { prose: commentsOf(path, text), from: 0 },
      ...titlesOf(path, text).map(({ title, index }) => ({ prose: title, from: index })),
    ];
    for (const { prose, from } of texts) {
      for (const { match, index, replacement } of proseIn(prose, retired)) {
        const line = text.slice(0, from + index).split("\n").length;
        problems.push(`${path}:${line}: "${match}" is retired: ${replacement}`);
      }
    }
  }
  return problems;
}

function retiredInDocuments(documents: ReadonlyMap<string, string>, { retiredProse }: LanguageRules): readonly string[] {
  const retired = prosePatterns(retiredProse);
  const problems: string[] = [];
  for (const [path, text] of documents) {
    if (path === GLOSSARY) continue;
    const prose = withoutCodeBlocks(text)
      .join("\n")
      // Names of files and fields keep the words that they were given.
      .replace(/`[^`\n]*`|\]\([^)\n]*\)/g, (code) => " ".repeat(code.length));
    for (const { match, index, replacement } of proseIn(prose, retired)) {
      const line = prose.slice(0, index).split("\n").length;
      problems.push(`${path}:${line}: "${match}" is retired: ${replacement}`);
    }
  }
  return problems;
}

/**
 * The glossary is where a reader looks up why a word is refused, so its table has each retired word, and its last column says where the word
 * is refused.
 */
function glossaryProblems(documents: ReadonlyMap<string, string>, { retiredNames, retiredProse }: LanguageRules): readonly string[] {
  const [, table = ""] = (documents.get(GLOSSARY) ?? "").split("## Retired words");
  const [, , ...rows] = table.split("\n").filter((line) => line.startsWith("|"));
  const explained = rows.flatMap((row) => {
    const [, items = "", , level = ""] = row.split("|");
    // What is in parentheses says which meaning of the word is retired.
    return items
      .replace(/\([^)]*\)/g, "")
      .split(",")
      .map((item) => ({ item: item.trim(), words: wordsOf(item), level: level.trim() }));
  });
  const isListed = (retired: Readonly<Record<string, string>>, words: readonly string[]) =>
    Object.keys(retired).some((phrase) => isPhrase(words, wordsOf(phrase)));
  const missing = [...new Set([...Object.keys(retiredNames), ...Object.keys(retiredProse)])]
    .filter((phrase) => !explained.some(({ words }) => isPhrase(words, wordsOf(phrase))))
    .map((phrase) => `${GLOSSARY}: the table of retired words lacks "${phrase}", which tools/language.ts lists`);
  const wrong = explained.flatMap(({ item, words, level }) => {
    const places = [...(isListed(retiredNames, words) ? ["names"] : []), ...(isListed(retiredProse, words) ? ["text"] : [])];
    const expected = places.join(", ") || "review";
    return level === expected
      ? []
      : [
          `${GLOSSARY}: "${item}" is refused in "${level}" by the table of retired words, and in "${expected}" by tools/language.ts: change one of them`,
        ];
  });
  return [...missing, ...wrong];
}

function isPhrase(words: readonly string[], phrase: readonly string[]): boolean {
  return words.length === phrase.length && containsPhrase(words, phrase);
}

/** Hand-written source of packages and apps, without tests. */
function isSource(path: string): boolean {
  const { kind, isTest, inside } = placeOf(path);
  return isTypeScript(path) && kind !== "project" && !isTest && inside.startsWith("src/");
}

/** The text of a literal that is prose: a single word is a value of the code, which may be published. */
function proseOf(node: ts.Node): string | undefined {
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
  return isText && /\s/.test(node.text) ? node.text : undefined;
}

const LOG_LEVELS: ReadonlySet<string> = new Set(["debug", "info", "warn", "error"]);

/** The names of a log line's fields, and its message where that is a single word, which `proseOf` passes over; undefined for other nodes. */
function logLineOf(node: ts.Node): { readonly fields: readonly string[]; readonly word: string | undefined } | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  if (!LOG_LEVELS.has(node.expression.name.text)) return undefined;
  const [fields, message] = node.arguments;
  if (fields === undefined || message === undefined || !ts.isObjectLiteralExpression(fields)) return undefined;
  const names = fields.properties.flatMap(({ name }) => (name !== undefined && ts.isIdentifier(name) ? [name.text] : []));
  return { fields: names, word: ts.isStringLiteralLike(message) && proseOf(message) === undefined ? message.text : undefined };
}

/** The words of a name in lower case: `asTLSRecord` gives as, tls, record; `status-fights.test.ts` gives status, fights, test, ts. */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

interface Phrase {
  readonly phrase: string;
  readonly words: readonly string[];
  readonly replacement: string;
}

function phrases(retired: Readonly<Record<string, string>>): readonly Phrase[] {
  return Object.entries(retired).map(([phrase, replacement]) => ({ phrase, words: phrase.split(" "), replacement }));
}

function found(words: readonly string[], retired: readonly Phrase[]): readonly Phrase[] {
  return retired.filter((phrase) => containsPhrase(words, phrase.words));
}

function containsPhrase(words: readonly string[], phrase: readonly string[]): boolean {
  return words.some((_, start) => phrase.every((word, offset) => isForm(words[start + offset], word)));
}

/** Whether a word is the singular given or its plural. */
function isForm(word: string | undefined, singular: string): boolean {
  return word === singular || word === `${singular}s` || (singular.endsWith("y") && word === `${singular.slice(0, -1)}ies`);
}

interface ProsePattern {
  readonly pattern: RegExp;
  readonly replacement: string;
}

/** A text wraps where it likes, so white space between words may be a line break. Names with `-` or `_` around a word are other words. */
function prosePatterns(retired: Readonly<Record<string, string>>): readonly ProsePattern[] {
  return Object.entries(retired).map(([phrase, replacement]) => ({
    pattern: new RegExp(`(?<![\\w-])${phrase.split(" ").join("\\s+")}s?(?![\\w-])`, "gi"),
    replacement,
  }));
}

interface ProseMatch {
  /** The words as they are written, with single spaces. */
  readonly match: string;
  readonly index: number;
  readonly replacement: string;
}

function proseIn(text: string, retired: readonly ProsePattern[]): readonly ProseMatch[] {
  return retired.flatMap(({ pattern, replacement }) =>
    [...text.matchAll(pattern)].map((found) => ({ match: found[0].replace(/\s+/g, " "), index: found.index, replacement })),
  );
}
