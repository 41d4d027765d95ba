import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Block } from "./blocks.ts";
import { commandsOf } from "./transcript.ts";

/** Flags that say where a command is typed, and on which values: a test has clusters and files of its own. */
const PLACES = /^(--((kube-|mgmt-|remote-)?(context|kubeconfig)|namespace|set)|-n|-f)$/;
/** What programs are called in tests: requests are made by fetch, and npx starts what it names. */
const CALLED: Readonly<Record<string, string>> = { curl: "fetch" };
/** Words of the shell itself, and programs that only prepare or show. */
const SHELL = /^(for|do|done|if|then|fi|cd|export|echo|printf|cat|\[|[A-Z_]+=.*|[#>&].*|)$/;

/**
 * What a test does not do of a block that it is said to run: programs, subcommands and flags that neither it nor what it imports of
 * the tests names. Nothing where those name the document, as they then type its own blocks.
 */
export function missingIn(test: string, block: Block, root: string): readonly string[] {
  const text = [...sourcesOf(test, root)].map((path) => readFileSync(join(root, path), "utf8")).join("\n");
  // As a string: a comment types nothing.
  if ([block.document, block.document.split("/").at(-1)].some((name) => text.includes(`"${name}"`))) return [];
  const wanted = commandsOf(block).flatMap((command) => wordsOf(command.text));
  return [...new Set(wanted)].filter((word) => !isNamed(word, text));
}

/** The program, its subcommands and its flags, of each command of a pipe. */
function wordsOf(command: string): readonly string[] {
  return command
    .replace(/\\\n/g, " ")
    .replace(/\s#\s.*$/gm, "")
    .split(/[|;]|&&|\n/)
    .flatMap((part) => {
      const words = part.trim().split(/\s+/);
      const start = words.findIndex((word) => !SHELL.test(word));
      if (start < 0 || (start === 1 && /^(for|cd|export|echo|printf|cat)$/.test(words[0] ?? ""))) return [];
      const [program = "", ...rest] = words.slice(start).filter((word, i) => i > 0 || word !== "npx");
      // Scripts of package.json, which CI runs.
      if (program === "npm") return [];
      const end = rest.findIndex((word) => !/^[a-z][a-z-]*$/.test(word));
      const subcommands = rest.slice(0, Math.min(end < 0 ? rest.length : end, program === "meshctl" ? 2 : 1));
      const flags = rest.map((word) => word.replace(/=.*/, "")).filter((word) => /^--?[a-z]/.test(word) && !PLACES.test(word));
      return [CALLED[program] ?? program, ...(program === "curl" ? [] : [...subcommands, ...flags])];
    });
}

/** Whether a source names a word by itself: as a string, a part of one, or a function. */
function isNamed(word: string, text: string): boolean {
  const escaped = word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return new RegExp(`(^|[^\\w-])${escaped}($|[^\\w-])`, "m").test(text);
}

/** A test and what it imports of the tests, by paths from the root. */
function sourcesOf(path: string, root: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path) || !existsSync(join(root, path))) return found;
  found.add(path);
  for (const [, from = ""] of readFileSync(join(root, path), "utf8").matchAll(/^(?:import|export) [^;]*?from "(\.{1,2}\/[^"]+)";$/gm)) {
    const imported = join(dirname(path), from);
    if (/(^|\/)tests?\//.test(imported)) sourcesOf(imported, root, found);
  }
  return found;
}
