const FOLDER = "docs/decisions/";
const INDEX = `${FOLDER}README.md`;

/**
 * What is wrong with the index of decisions: it has one row for each page, in the table of an area, with the state that the page gives itself above its
 * question: *Superseded by* or *Amended by*. A page that says that it amends or supersedes another is named by that one.
 */
export function decisionProblems(documents: ReadonlyMap<string, string>): readonly string[] {
  const pages = new Map(
    [...documents].flatMap(([path, text]) => {
      const [, number] = /^docs\/decisions\/(\d{4})-/.exec(path) ?? [];
      return number === undefined ? [] : [[number, { path, text }] as const];
    }),
  );
  if (pages.size === 0) return [];
  const index = documents.get(INDEX) ?? "";
  const rows = [...index.matchAll(/^\| \[(\d{4})\]\([^)]*\) \| .* \| (.*) \|$/gm)].map(([, number = "", cell = ""]) => ({
    number,
    state: cell.replace(/\[(\d{4})\]\([^)]*\)/g, "$1"),
  }));
  const inTables = [...pages].flatMap(([number, { path, text }]) => {
    const own = rows.filter((row) => row.number === number);
    if (own.length !== 1) return [`${INDEX}: ${own.length} rows for ${path}: it needs one, in the table of its area`];
    const state = stateOf(text);
    return own[0]?.state === state ? [] : [`${INDEX}: ${number} is "${own[0]?.state}" there, and "${state}" by its page`];
  });
  const onTop = [...index.matchAll(/^- \[(\d{4})\]/gm)]
    .filter(([, number = ""]) => stateOf(pages.get(number)?.text ?? "").startsWith("superseded"))
    .map(([, number]) => `${INDEX}: ${number} is superseded, and listed among those that bind everybody`);
  return [...inTables, ...onTop, ...[...pages].flatMap(([number, { text }]) => unanswered(number, text, pages))];
}

function stateOf(page: string): string {
  const head = (page.split("**Question")[0] ?? "").replace(/^Amends .*?\)\.$/gms, "");
  const verb = ["Superseded", "Amended"].find((word) => head.includes(`${word} by`));
  return verb === undefined ? "in force" : `${verb.toLowerCase()} by ${numbersIn(head).join(", ")}`;
}

/** The pages that one says it amends or supersedes, and that do not say so themselves. */
function unanswered(
  number: string,
  page: string,
  pages: ReadonlyMap<string, { readonly path: string; readonly text: string }>,
): readonly string[] {
  const named = [...page.matchAll(/\b(?:amends|supersedes) ((?:(?:, | and )?(?:\[\d{4}\]\([^)]*\)|\d{4}))+)/gi)].flatMap(
    ([, list = ""]) => list.match(/(?<=^|[[ ])\d{4}(?=\]|$|\b)/g) ?? [],
  );
  return [...new Set(named)].flatMap((other) => {
    const changed = pages.get(other);
    if (changed === undefined || stateOf(changed.text).includes(number)) return [];
    return [`${changed.path}: ${number} amends or supersedes it, which it has to say above its question`];
  });
}

/** Linked pages in order, each once. */
function numbersIn(head: string): readonly string[] {
  return [...new Set([...head.matchAll(/\[(\d{4})\]\(/g)].map(([, number = ""]) => number))];
}
