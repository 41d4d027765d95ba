import { renameSync, writeFileSync } from "node:fs";
import { fileProblem, UsageError } from "@isthmus/core";
import type { Io } from "../io.ts";
import { plainText } from "../output/plainText.ts";

/** Writes the parts of a server's input snapshot as one List: to a file, or for `-` to standard output. Gives the number of objects. */
export async function saveSnapshot(parts: readonly string[], file: string, io: Pick<Io, "out">): Promise<number> {
  const items = parts.flatMap((part) => (JSON.parse(part) as { readonly items: readonly unknown[] }).items);
  const lines = items.map((item, i) => `${JSON.stringify(item)}${i === items.length - 1 ? "" : ","}\n`);
  const text = [`{"apiVersion":"v1","kind":"List","items":[\n`, ...lines, "]}\n"];
  if (file === "-") for (const line of text) await io.out(line);
  else replaceFile(file, text.join(""));
  return items.length;
}

/** A program that reads the file meanwhile has the old one, or the new one. What clusters hold is nobody else's business. */
function replaceFile(file: string, text: string): void {
  const next = `${file}.${process.pid}.new`;
  try {
    writeFileSync(next, text, { mode: 0o600, flag: "wx" });
    renameSync(next, file);
  } catch (error) {
    throw new UsageError(`${plainText(file)}: ${fileProblem(error)}`);
  }
}
