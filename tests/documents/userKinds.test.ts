import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { contributedKinds, userKinds } from "@isthmus/api";
import { groupOf, type Kind } from "@isthmus/core";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(root + path, "utf8");

/** As kubectl takes them whatever other CRDs there are. */
const namesOf = (kinds: readonly Kind[]): readonly string[] =>
  kinds.map(({ apiVersion, plural }) => `${plural}.${groupOf(apiVersion)}`).sort();

/** What the lines of a document put into the variable KINDS. */
function exportedIn(path: string): readonly string[] {
  const lines = [...read(path).matchAll(/^KINDS=(?:\$KINDS,)?(.+)$/gm)].map(([, names = ""]) => names);
  return lines.flatMap((names) => names.split(",")).sort();
}

// From the table of kinds: a kind that is added there must not be lost with a management cluster.
describe("the kinds that documents back up and move", () => {
  it("are, in docs/operations/backup.md, all that users write in the management cluster", () => {
    expect(exportedIn("docs/operations/backup.md")).toEqual(namesOf(userKinds()));
    const [, row = ""] = /^\| ([^|]+) \| what users wrote/m.exec(read("docs/operations/backup.md")) ?? [];
    const inText = userKinds().map(({ kind }) => (kind === "Settings" ? kind : kind.replace(/y$/, "ie").replace(/h$/, "he").concat("s")));
    expect(row.split(", ").sort()).toEqual([...inText].sort());
  });

  it("are, in docs/migration-from-gloo-mesh.md, all by which users ask something of a mesh", () => {
    expect(exportedIn("docs/migration-from-gloo-mesh.md")).toEqual(namesOf(contributedKinds()));
  });
});
