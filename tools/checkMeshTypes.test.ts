import { expect, it } from "vitest";
import { checkMeshTypes } from "./checkMeshTypes.ts";

const SRC = "packages/translators/src";

function problemsIn(text: string, path = `${SRC}/policy/a.ts`): readonly string[] {
  return checkMeshTypes(new Map([[path, text]])).problems;
}

it.each([
  "mesh.spec?.istio",
  "spec.osm",
  "(mesh.spec ?? {}).awsAppMesh",
  'spec["linkerd"]',
  '"consulConnect" in (spec ?? {})',
  "({ spec: { istio } }) => istio",
  "({ istio: { installation } = {} }) => installation",
])("refuses %s where no type of mesh is known", (code) => {
  expect(problemsIn(`\nexport const a = ${code};`)).toEqual([
    expect.stringMatching(
      /^packages\/translators\/src\/policy\/a\.ts:2: reads spec\.(istio|osm|awsAppMesh|linkerd|consulConnect) of a Mesh: ask /,
    ),
  ]);
});

it.each(["attachment/a.ts", "pipeline/a.ts", "statuses/a.ts", "incremental/a.ts", "discovery/a.ts", "attachment/x/a.ts"])(
  "looks at %s",
  (path) => {
    expect(problemsIn("const a = spec.istio;", `${SRC}/${path}`)).toHaveLength(1);
  },
);

it.each(["meshes/istio/a.ts", "discovery/detectors/a.ts", "policy/a.test.ts"])("leaves %s alone", (path) => {
  const tree = new Map([
    [`${SRC}/${path}`, "const a = spec.istio;"],
    [`${SRC}/policy/b.ts`, ""],
  ]);
  expect(checkMeshTypes(tree).problems).toEqual([]);
});

it.each(["spec.agentInfo", "settings.spec.mtls.istio", "{ mtls: { istio: 1 } }", "'spec.istio of the Mesh'", "spec[type]"])(
  "accepts %s",
  (code) => {
    expect(problemsIn(`// spec.istio\nconst a = ${code};`)).toEqual([]);
  },
);

it.each(["apps/meshctl/src/a.ts", "apps/ui/src/x/a.tsx"])("refuses lists of types of meshes in programs: %s", (path) => {
  expect(problemsIn("const a = spec?.istio ?? spec?.osm;", path)).toEqual([
    expect.stringContaining("reads spec.osm of a Mesh: ask meshInstallationOf"),
  ]);
  expect(problemsIn("const a = mesh.spec?.istio;", path)).toEqual([]);
});

it("does not pass where it saw nothing", () => {
  expect(checkMeshTypes(new Map()).problems).toEqual(["no neutral file was found"]);
});
