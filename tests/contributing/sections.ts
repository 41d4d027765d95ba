/** What a section of CONTRIBUTING.md says about the files that a change touches. */
export interface Section {
  readonly heading: string;
  /** The number in words before the list, as in "Four files:". */
  readonly count: number;
  /** One path for each item of the numbered list; `<name>` is a placeholder. */
  readonly paths: readonly string[];
  /** The path of "A fifth, `path`, if …" after the list. */
  readonly additionalPath: string | undefined;
  /** The npm scripts `generate:…` that the section names, in its order. */
  readonly scripts: readonly string[];
}

const CARDINALS = ["Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"];
const ORDINALS = ["zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"];

/** The sections whose heading begins with "Adding". Throws if the form of one of them is not as above; the message names the section. */
export function recipeSections(contributing: string): readonly Section[] {
  return contributing
    .split(/^## /m)
    .filter((text) => text.startsWith("Adding "))
    .map(sectionOf);
}

function sectionOf(text: string): Section {
  const [heading = ""] = text.split("\n");
  const fail = (problem: string): never => {
    throw new Error(`CONTRIBUTING.md, "${heading}": ${problem}`);
  };
  const [, word = ""] = /\b(\w+) files:\n/.exec(text) ?? fail('no sentence ends with a number of files, such as "Four files:"');
  const count = CARDINALS.indexOf(word);
  if (count < 0) fail(`"${word} files": not a number in words, with a capital`);
  const items = [...text.matchAll(/^(\d+)\. (.*)$/gm)];
  const paths = items.map(([, number, item = ""], i) => {
    if (Number(number) !== i + 1) fail(`item ${number} of the list should be ${i + 1}`);
    const [, path = ""] = /^`([^`]+)`/.exec(item) ?? fail(`item ${number} does not begin with a path in backticks`);
    return path;
  });
  if (paths.length !== count) fail(`it says "${word} files", and lists ${paths.length}`);
  const [, ordinal, additionalPath] = /^An? (\w+), `([^`]+)`, if /m.exec(text) ?? [];
  if (ordinal !== undefined && ORDINALS.indexOf(ordinal) !== count + 1) fail(`"A ${ordinal}" does not follow ${count} files`);
  const scripts = [...new Set([...text.matchAll(/`npm run (generate:\w+)`/g)].map(([, script = ""]) => script))];
  return { heading, count, paths, additionalPath, scripts };
}

/** The files that a section names for an example. Throws on a placeholder without a value. */
export function filesNamed(section: Section, example: { readonly names: Readonly<Record<string, string>>; readonly additional: boolean }) {
  const { heading, paths, additionalPath } = section;
  if (example.additional && additionalPath === undefined) throw new Error(`CONTRIBUTING.md, "${heading}": names no additional file`);
  const all = example.additional && additionalPath !== undefined ? [...paths, additionalPath] : paths;
  return all
    .map((path) =>
      path.replace(/<([^>]+)>/g, (_, name: string) => {
        const value = example.names[name];
        if (value === undefined) throw new Error(`CONTRIBUTING.md, "${heading}": ${path}: the example has no value for <${name}>`);
        return value;
      }),
    )
    .sort();
}
