import { readFileSync, writeFileSync } from "node:fs";
import { folderDiagram, folderRows } from "./folderRules.ts";
import { printsUsage } from "./generatorUsage.ts";
import { folderTable } from "./packageTable.ts";

/** Writes the folders of packages into ARCHITECTURE.md, between `<!-- folders: NAME -->` and `<!-- end -->`. */
function main(): void {
  const path = "ARCHITECTURE.md";
  let text = readFileSync(path, "utf8");
  for (const name of Object.keys(folderTable)) {
    const [start, end] = [`<!-- folders: ${name} -->\n`, "<!-- end -->"];
    const from = text.indexOf(start);
    const to = text.indexOf(end, from);
    if (from < 0 || to < 0) throw new Error(`ARCHITECTURE.md has no ${start.trim()} … ${end}`);
    text = `${text.slice(0, from + start.length)}\n${folderDiagram(name)}\n\n${folderRows(name)}\n\n${text.slice(to)}`;
  }
  writeFileSync(path, text);
}

if (!printsUsage("generate:architecture", "")) main();
