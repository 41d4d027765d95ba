/** A fenced block of a document. */
export interface Block {
  readonly document: string;
  /** Of its fence, from 1. */
  readonly line: number;
  /** The word after the fence; empty when there is none. */
  readonly language: string;
  readonly text: string;
  /** The comment on the line before it, such as `not run: needs a load balancer` or `file: policy.yaml`. */
  readonly note: Note | undefined;
}

export interface Note {
  readonly kind: string;
  readonly text: string;
}

/** The fenced blocks of a document, in order. */
export function blocksOf(document: string, markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = markdown.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const [, indent = "", language] = /^( *)```(\w*)$/.exec(lines[at] ?? "") ?? [];
    if (language === undefined) continue;
    const [, kind, text] = /^<!-- ([a-z ]+): (.*) -->$/.exec((lines[at - 1] ?? "").trim()) ?? [];
    const start = at + 1;
    do at++;
    while (at < lines.length && lines[at] !== `${indent}\`\`\``);
    const note = kind === undefined ? undefined : { kind, text: text ?? "" };
    blocks.push({
      document,
      line: start,
      language,
      text: lines
        .slice(start, at)
        .map((line) => line.slice(indent.length))
        .join("\n"),
      note,
    });
  }
  return blocks;
}

/** Whether readers type what the block shows. */
export function isShell({ language }: Block): boolean {
  return language === "sh" || language === "console";
}
