// Runs a TypeScript entry file: `node tools/run.mjs FILE.ts [ARG…]`. Node 20 cannot read TypeScript by itself.
import { mkdirSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundle } from "./build.mjs";

const [entry, ...rest] = process.argv.slice(2);
if (!entry) {
  console.error("usage: node tools/run.mjs FILE.ts [ARG…]");
  process.exit(2);
}
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
// Below node_modules, so that imports of npm packages resolve from the bundle as they do from the source.
const cache = join(root, "node_modules/.cache/isthmus");
mkdirSync(cache, { recursive: true });
const outfile = join(
  cache,
  `${resolve(entry)
    .slice(root.length + 1)
    .replaceAll("/", "-")}-${basename(entry)}.mjs`,
);
// A file of its own: a copy of node_modules made of hard links would have another tree's programs written over.
rmSync(outfile, { force: true });
await bundle(resolve(entry), outfile);
process.argv = [process.argv[0], resolve(entry), ...rest];
await import(pathToFileURL(outfile).href);
