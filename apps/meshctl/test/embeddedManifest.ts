import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

/**
 * Compares a file of src/gen with the chart that it has: all its files by path; with UPDATE_GOLDEN=1 writes it. What a chart demands of Kubernetes is left out: meshctl asks the cluster itself, and
 * Helm, asked for a text alone, knows of none.
 */
export function expectEmbeddedChart(chart: string, embedded: string): void {
  const folder = fileURLToPath(new URL(`../../../deploy/helm/${chart}`, import.meta.url));
  const file = fileURLToPath(new URL(`../src/gen/${embedded}`, import.meta.url));
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
  // What people read, and what `helm test` makes, is not rendered.
  const isRendered = (path: string): boolean => !/\/(README\.md|NOTES\.txt|templates\/tests\/.*)$/.test(path);
  const files = Object.fromEntries(
    paths
      .filter(isRendered)
      .sort()
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, "utf8").replace(/^kubeVersion: .*\n/m, "")]),
  );
  const text = `${JSON.stringify(files, undefined, 1)}\n`;
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, text);
  expect(readFileSync(file, "utf8")).toBe(text);
}
