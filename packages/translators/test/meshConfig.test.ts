import { readFileSync } from "node:fs";
import { OsmMeshConfig } from "@isthmus/api";
import { type Resource, snapshotOf } from "@isthmus/core";
import { readInput, soundTranslation } from "@isthmus/testing";
import { expect, test } from "vitest";

const OPTIONS = { namespace: "gloo-mesh", stage: "networking" } as const;
const input = new URL("../testdata/osm/a-permissive-mesh-is-told-about.in.yaml", import.meta.url);
const { resources } = readInput(readFileSync(input, "utf8"));

test("a change of the object with a mesh's settings reaches the Destinations of the mesh", () => {
  const isPermissive = (value: boolean) =>
    resources.map((resource): Resource => (resource.kind === OsmMeshConfig.kind ? withPermissiveMode(resource, value) : resource));
  const strict = soundTranslation(snapshotOf(isPermissive(false)), OPTIONS);
  const permissive = soundTranslation(snapshotOf(isPermissive(true)), OPTIONS, strict);
  const codes = ({ reports }: typeof strict) => reports.map(({ code }) => code);
  expect(codes(strict)).not.toContain("PermissiveMesh");
  expect(codes(permissive)).toContain("PermissiveMesh");
  expect(codes(soundTranslation(snapshotOf(isPermissive(false)), OPTIONS, permissive))).not.toContain("PermissiveMesh");
});

function withPermissiveMode(config: Resource, enablePermissiveTrafficPolicyMode: boolean): Resource & { readonly spec: object } {
  return { ...config, spec: { traffic: { enablePermissiveTrafficPolicyMode } } };
}
