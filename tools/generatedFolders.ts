import { existsSync, readFileSync } from "node:fs";
import { folderDiagram, folderRows } from "./folderRules.ts";
import type { GeneratedFiles } from "./generatedFiles.ts";
import { folderTable } from "./packageTable.ts";

const [START, END] = ["<!-- folders -->\n", "<!-- end -->\n"];
const HEADING =
  "\n## Folders\n\nA folder imports those that its row lists, all of them above it in the table. Arrows that follow from others are left out.\n\n";

/** The folders of each package with a table, in its README.md: below what is written by hand, between two comments. */
export const generatedFolders: GeneratedFiles = {
  script: "generate:architecture",
  source: "tools/packageTable.ts",
  place: "README.md of packages and apps",
  folders: [],
  contents: () => new Map(Object.keys(folderTable).map((name) => [readmeOf(name), withFolders(name)])),
};

function readmeOf(name: string): string {
  return `${existsSync(`packages/${name}`) ? "packages" : "apps"}/${name}/README.md`;
}

function withFolders(name: string): string {
  const path = readmeOf(name);
  const text = existsSync(path) ? readFileSync(path, "utf8") : `# ${name}\n`;
  return textWithFolders(text, `${folderDiagram(name)}\n\n${folderRows(name)}`);
}

/** A README with these folders between its comments; they are added at its end where it has none. */
export function textWithFolders(text: string, folders: string): string {
  const from = text.indexOf(START);
  if (from < 0) return `${text}${HEADING}${START}\n${folders}\n\n${END}`;
  const to = text.indexOf(END, from);
  if (to < 0) throw new Error(`no ${END.trim()} after ${START.trim()}`);
  return `${text.slice(0, from)}${START}\n${folders}\n\n${text.slice(to)}`;
}
