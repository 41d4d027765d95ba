import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Block, isShell } from "./blocks.ts";
import { missingIn } from "./ranBy.ts";

/** What a comment before a block may say. CONTRIBUTING.md explains each. */
const NOTES = ["not run", "run by", "file"] as const;

const COMMANDS = /^(\$ |(npm|npx|kubectl|helm|meshctl|curl|openssl) )/m;

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
  if (note.kind === "run by") {
    if (!existsSync(join(root, note.text))) return `${at}: ${note.text} does not exist`;
    const missing = missingIn(note.text, block, root);
    return missing.length === 0
      ? undefined
      : `${at}: ${note.text} does not run ${missing.join(", ")}: add it there, or name the test that does`;
  }
  return `${at}: unknown comment "${note.kind}": use ${NOTES.join(", ")}`;
}
