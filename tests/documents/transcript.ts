import { type Block, isShell } from "./blocks.ts";

/** A command of a block, and what the document shows of its output. */
export interface Command {
  readonly text: string;
  /** Undefined when the document shows none. A line or a part of one that is … stands for anything. */
  readonly output: string | undefined;
}

/** The commands of a block: in a console block those after `$ `, with their output; in a sh block every line. */
export function commandsOf(block: Block): readonly Command[] {
  if (!isShell(block)) return [];
  const hasPrompts = block.language === "console";
  const commands: { text: string; output: string[] }[] = [];
  const lines = block.text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (hasPrompts && !line.startsWith("$ ")) {
      if (commands.length === 0) throw new Error(`${block.document}:${block.line}: output before the first command`);
      commands.at(-1)?.output.push(line);
      continue;
    }
    let text = hasPrompts ? line.slice(2) : line;
    while (isUnfinished(text) && at + 1 < lines.length) text += `\n${lines[++at]}`;
    if (text.trim() !== "" && !/^#[^\n]*$/.test(text)) commands.push({ text, output: [] });
  }
  return commands.map(({ text, output }) => ({ text, output: output.length === 0 ? undefined : output.join("\n") }));
}

/** Whether a command continues on the next line: by a backslash, a pipe or `&&`, or until the end of its here-document. */
function isUnfinished(text: string): boolean {
  const [, word] = /<<'?(\w+)'?/.exec(text) ?? [];
  if (word !== undefined) return !text.split("\n").slice(1).includes(word);
  return /(\\|\||&&)$/.test(text);
}

/** The first difference between what a document shows and what a command printed; undefined when there is none. */
export function differenceOf(shown: string, printed: string): string | undefined {
  const expected = stable(shown);
  const actual = stable(printed);
  const pattern = expected.map((line) => (line === "…" ? "(?:.*\\n)*?" : `${line.split("…").map(escaped).join(".*")}\\n`)).join("");
  return new RegExp(`^${pattern}$`).test(actual.map((line) => `${line}\n`).join(""))
    ? undefined
    : `shown:\n${expected.join("\n")}\nprinted:\n${actual.join("\n")}`;
}

/** Lines without what differs from run to run: times, ages, addresses, UIDs, random names, and the width of columns. */
function stable(text: string): readonly string[] {
  return text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UID")
    .replace(/\b\d+(\.\d+){3}(:\d+)?\b/g, "ADDRESS")
    .replace(/\b\d+(\.\d+)? ?m?s\b/g, "DURATION")
    .replace(/\b(\d+[dhm])+(\d+s|DURATION)?\b/g, "DURATION")
    .replace(/relay-join-token-\w+/g, "JOIN-TOKEN")
    .replace(/\bof \d+ objects/g, "of N objects")
    .split("\n")
    .map((line) => line.replace(/[\s─]+/g, " ").trim())
    .filter((line) => line !== "");
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
