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

  it("pins Redis by a digest, and refuses what is none", async () => {
    const rendered = (digest: string) =>
      renderChart({ components, chart: "gloo-mesh-mgmt-server", values: { redis: { deployment: { image: { digest } } } } });
    const digest = `sha256:${"0".repeat(64)}`;
    const { code, stdout, stderr } = await rendered(digest);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(`image: "redis:7.4-alpine@${digest}"`);
    expect(await rendered("latest")).toMatchObject({ code: 1, stderr: expect.stringContaining("digest") });
  });
});

function commented(text: string): string {
  return text
    .split("\n")
    .map((line) => `# ${line}`)
    .join("\n");
}
