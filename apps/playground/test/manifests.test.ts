import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allKinds, TrafficPolicy } from "@isthmus/api";
import { UsageError } from "@isthmus/core";
import { simulatedCluster } from "@isthmus/simulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { applyManifests, readManifests } from "../src/manifests.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-manifests-"));
  const policies = join(folder, "policies");
  mkdirSync(policies);
  writeFileSync(join(policies, "b.yaml"), `---\n${policy("second")}---\n`);
  writeFileSync(join(policies, "a.yml"), policy("first"));
  writeFileSync(
    join(policies, "c.json"),
    JSON.stringify({ apiVersion: "v1", kind: "List", items: [namespace("shop"), namespace("bank")] }),
  );
  writeFileSync(join(policies, "README.md"), "# no object");
  writeFileSync(join(folder, "torn.yaml"), "kind: [TrafficPolicy");
  writeFileSync(join(folder, "nameless.yaml"), "kind: TrafficPolicy\n");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
const policy = (name: string, spec = "policy: {requestTimeout: 2s}") =>
  `apiVersion: ${TrafficPolicy.apiVersion}\nkind: TrafficPolicy\nmetadata: {name: ${name}, namespace: shop}\nspec: {${spec}}\n`;
const names = (paths: readonly string[]) =>
  readManifests(paths.map((path) => join(folder, path))).map(({ resource }) => resource.metadata.name);

test("files of a folder are read in order of their names, lists by their items, and what is no manifest is left", () => {
  expect(names(["policies"])).toEqual(["first", "second", "shop", "bank"]);
  expect(names(["policies/c.json", "policies/a.yml"])).toEqual(["shop", "bank", "first"]);
});

test("what cannot be read is named with its file", () => {
  for (const [path, message] of [
    ["torn.yaml", /torn\.yaml: /],
    ["nameless.yaml", /nameless\.yaml: a document has no apiVersion, kind and metadata\.name/],
    ["absent.yaml", /absent\.yaml cannot be read: /],
  ] as const) {
    expect(() => names([path])).toThrow(UsageError);
    expect(() => names([path])).toThrow(message);
  }
});

test("an object that is refused is named with its file, and keeps no other out", async () => {
  const cluster = simulatedCluster({ name: "", clock: { now: () => 0, sleep: async () => undefined }, kinds: allKinds() });
  await cluster.create(namespace("shop"));
  writeFileSync(join(folder, "mixed.yaml"), `${policy("elsewhere").replace("namespace: shop", "namespace: absent")}---\n${policy("good")}`);
  const refused = await applyManifests(cluster, readManifests([join(folder, "mixed.yaml")]));
  expect(refused).toHaveLength(1);
  expect(refused[0]).toMatch(/mixed\.yaml: TrafficPolicy absent\/elsewhere: .*absent/);
  expect((await cluster.list(TrafficPolicy)).items.map(({ metadata }) => metadata.name)).toEqual(["good"]);
});
