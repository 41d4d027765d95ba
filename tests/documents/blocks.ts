import { existsSync } from "node:fs";
import { join } from "node:path";

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

/** What a comment before a block may say. CONTRIBUTING.md explains each. */
const NOTES = ["not run", "run by", "file"] as const;

const COMMANDS = /^(\$ |(npm|npx|kubectl|helm|meshctl|curl|openssl) )/m;

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

/** What is wrong with a block of commands: it must be run by a test, or have a reason. `isRun` is of its document. */
export function problemOf(block: Block, { isRun, root }: { readonly isRun: boolean; readonly root: string }): string | undefined {
  const at = `${block.document}:${block.line}`;
  const { note } = block;
  if (["bash", "shell", "zsh"].includes(block.language)) return `${at}: use sh, or console with the output`;
  if (!isShell(block)) {
    // The usage of a program shows examples of its own.
    if (block.language === "" && COMMANDS.test(block.text) && !block.text.startsWith("Usage:")) {
      return `${at}: these are commands: use sh, or console with the output`;
    }
    if (note !== undefined && note.kind !== "file") return `${at}: "${note.kind}" is for blocks of commands`;
    return undefined;
  }
  if (note === undefined)
    return isRun ? undefined : `${at}: no test runs this block: add its document to tests/documents/runDocuments.ts, or a reason`;
  if (note.kind === "not run") return note.text.split(" ").length < 3 ? `${at}: "${note.text}" is no reason` : undefined;
  if (note.kind === "run by") return existsSync(join(root, note.text)) ? undefined : `${at}: ${note.text} does not exist`;
  return `${at}: unknown comment "${note.kind}": use ${NOTES.join(", ")}`;
}
