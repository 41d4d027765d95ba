import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it, vi } from "vitest";
import { parseAllDocuments } from "yaml";
import { readAgentConfig } from "../src/config.ts";

const MANIFEST = fileURLToPath(new URL("../../../deploy/manifests/gloo-mesh-agent.yaml", import.meta.url));

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
}

afterEach(() => vi.unstubAllEnvs());

it("the checked-in manifest starts an agent with its default settings", () => {
  const text = readFileSync(MANIFEST, "utf8")
    .replaceAll("CLUSTER_NAME", "east")
    .replaceAll("RELAY_ADDRESS", "mgmt.example:9900")
    .replaceAll("RELAY_AUTHORITY", "gloo-mesh-mgmt-server.gloo-mesh");
  const objects = parseAllDocuments(text).map((document) => document.toJS() as { readonly kind: string });
  const deployment = objects.find(({ kind }) => kind === "Deployment") as unknown as {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
  };
  const [{ args, env } = { args: [], env: [] }, ...others] = deployment.spec.template.spec.containers;
  expect(others).toEqual([]);
  expect(env.map(({ name }) => name)).toEqual(["POD_NAMESPACE", "POD_NAME", "NODE_OPTIONS"]);
  expect(args.length).toBeGreaterThan(5);
  vi.stubEnv("POD_NAMESPACE", "gloo-mesh");
  vi.stubEnv("POD_NAME", "gloo-mesh-agent");
  // What it says is what holds without it: the defaults of chart and program are the same.
  expect(readAgentConfig(args)).toEqual(readAgentConfig(["--cluster=east", "--relay-address=mgmt.example:9900"]));
});
