import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { parseAllDocuments } from "yaml";

/** Compares a file of src/gen with the rendered manifest that it follows from; with UPDATE_GOLDEN=1 writes it. */
export function expectEmbedded(rendered: string, embedded: string): void {
  const source = fileURLToPath(new URL(`../../../deploy/manifests/${rendered}`, import.meta.url));
  const file = fileURLToPath(new URL(`../src/gen/${embedded}`, import.meta.url));
  const objects = parseAllDocuments(readFileSync(source, "utf8")).flatMap((document) => (document.contents ? [document.toJS()] : []));
  const text = `${JSON.stringify(objects, undefined, 1)}\n`;
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, text);
  expect(readFileSync(file, "utf8")).toBe(text);
}
