import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { describeReal } from "../harness/describeReal.ts";
import { renderChart } from "../harness/helm.ts";
import { manifests } from "./checkedInManifests.ts";

const FOLDER = fileURLToPath(new URL("../../../deploy/manifests", import.meta.url));

describeReal("the manifests that are checked in", (components) => {
  for (const { file, about, ...rendering } of manifests) {
    it(`deploy/manifests/${file} is what Helm renders`, async () => {
      const { code, stdout, stderr } = await renderChart({ components, ...rendering });
      expect(code, stderr).toBe(0);
      const rendered = `# Rendered from deploy/helm/${rendering.chart} by npm run manifests:update.\n${commented(about)}\n${stdout}`;
      const path = `${FOLDER}/${file}`;
      if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(path, rendered);
      expect(readFileSync(path, "utf8")).toBe(rendered);
    });
  }
});

function commented(text: string): string {
  return text
    .split("\n")
    .map((line) => `# ${line}`)
    .join("\n");
}
