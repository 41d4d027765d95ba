import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string): string => readFileSync(root + path, "utf8");

/** The first columns of the tables of a text, without backticks. */
function firstColumns(text: string): readonly string[] {
  return [...text.matchAll(/^\| `(\w+)`/gm)].map(([, name = ""]) => name);
}

describe("docs/operations/troubleshooting.md", () => {
  const explained = new Set(firstColumns(read("docs/operations/troubleshooting.md")));

  it("explains each condition", () => {
    const conditions = firstColumns(read("docs/reference/conditions.md"));
    expect(conditions.length).toBeGreaterThan(10);
    expect(conditions.filter((name) => !explained.has(name))).toEqual([]);
  });

  it("explains each alert, and no other", () => {
    const alerts = ["agent", "mgmt-server"].flatMap((chart) =>
      [...read(`deploy/helm/gloo-mesh-${chart}/files/alerts.yaml`).matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name),
    );
    expect([...explained].filter((name) => name.startsWith("GlooMesh")).sort()).toEqual(alerts.sort());
  });
});
