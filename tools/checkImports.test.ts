import { describe, expect, it } from "vitest";
import { checkImports } from "./checkImports.ts";
import { tableProblems } from "./folderRules.ts";

const manifest = (entries: readonly string[], dependencies: readonly string[] = []): string =>
  JSON.stringify({
    exports: Object.fromEntries(entries.map((entry) => [entry, entry === "." ? "./src/index.ts" : `./src${entry.slice(1)}.ts`])),
    dependencies: Object.fromEntries(dependencies.map((name) => [name, "1.0.0"])),
  });

const manifests = {
  "package.json": '{ "devDependencies": { "vitest": "1.0.0" } }',
  "packages/core/package.json": manifest(["."], ["@isthmus/api"]),
  "packages/api/package.json": manifest(["."], ["@isthmus/core", "@sinclair/typebox"]),
  "packages/plane/package.json": manifest(["."], ["@isthmus/core", "@isthmus/api", "@isthmus/relay"]),
  "packages/ports/package.json": manifest(["."], ["@isthmus/core", "@isthmus/relay"]),
  "packages/relay/package.json": manifest([".", "./session"], ["@isthmus/core"]),
  "packages/kubernetes/package.json": manifest(["."], ["@isthmus/ports", "@kubernetes/client-node"]),
  "packages/testing/package.json": manifest(["."]),
  "apps/agent/package.json": manifest([], ["@isthmus/relay", "@kubernetes/client-node"]),
};

function problemsIn(files: Readonly<Record<string, string>>): readonly string[] {
  return checkImports(new Map(Object.entries({ ...manifests, ...files }))).problems;
}

describe("checkImports", () => {
  it("accepts what the table allows", () => {
    const problems = problemsIn({
      "packages/api/src/index.ts": 'export * from "./mesh.ts";',
      "packages/api/src/mesh.ts": 'import type { Kind } from "@isthmus/core";\nimport { Type } from "@sinclair/typebox";',
      "packages/kubernetes/src/cluster.ts": 'import { ClusterError } from "@isthmus/ports";\nimport { request } from "node:https";',
      "packages/plane/src/server/reconcile.ts":
        'import { Mesh } from "@isthmus/api";\nimport type { ServerLink } from "@isthmus/relay/session";',
      "apps/agent/src/main.ts": 'import { connect } from "@isthmus/relay";',
    });
    expect(problems).toEqual([]);
  });

  it.each([
    ["packages/core/src/kind.ts", 'import { Mesh } from "@isthmus/api";', "core may not import api: it imports no other package"],
    ["packages/core/src/kind.ts", 'export type { Mesh } from "@isthmus/api";', "core may not import api"],
    ["packages/core/src/kind.ts", 'type M = import("@isthmus/api").Mesh;', "core may not import api"],
    ["packages/core/src/kind.ts", 'const api = await import("@isthmus/api");', "core may not import api"],
    ["packages/plane/src/x.ts", 'import { serve } from "@isthmus/relay";', "plane may not import relay: it imports only"],
    [
      "packages/kubernetes/src/x.ts",
      'import { run } from "@isthmus/plane";',
      "kubernetes may not import plane: it imports only core, ports",
    ],
    ["packages/api/src/x.ts", 'import { golden } from "@isthmus/testing";', "testing is for tests"],
    ["apps/agent/src/x.ts", 'import { golden } from "@isthmus/testing";', "testing is for tests"],
    ["packages/api/src/x.ts", 'import { Mesh } from "@isthmus/api";', "is this very package"],
    ["packages/fresh/src/x.ts", 'import { keyOf } from "@isthmus/core";', "fresh has no row in tools/packageTable.ts"],
  ])("refuses %s: %s", (path, text, problem) => {
    expect(problemsIn({ [path]: text })).toEqual([expect.stringContaining(problem)]);
  });

  it("refuses to reach past a package's entry points, by name or by path, tests included", () => {
    const deep = { "packages/core/src/md5.ts": "export const md5 = 1;" };
    expect(problemsIn({ ...deep, "packages/api/src/x.ts": 'import { md5 } from "@isthmus/core/src/md5.ts";' })).toEqual([
      expect.stringContaining("@isthmus/core/src/md5.ts is not an entry point"),
    ]);
    for (const path of ["packages/api/src/x.ts", "packages/api/src/x.test.ts"]) {
      expect(problemsIn({ ...deep, [path]: 'import { md5 } from "../../core/src/md5.ts";' })).toEqual([
        expect.stringContaining("packages/core/src/md5.ts belongs to another package"),
      ]);
    }
  });

  it("refuses one app in another", () => {
    const files = {
      "apps/agent/src/config.ts": "export const port = 1;",
      "apps/meshctl/src/x.ts": 'import { port } from "../../agent/src/config.ts";',
    };
    expect(problemsIn(files)).toEqual([expect.stringContaining("apps are never imported")]);
  });

  it("keeps Node out of what runs in a browser, directly and through a neighbour", () => {
    expect(problemsIn({ "packages/core/src/x.ts": 'import { createHash } from "node:crypto";' })).toEqual([
      "packages/core/src/x.ts:1: node:crypto does not exist in a browser, and this file must run there",
    ]);
    expect(problemsIn({ "packages/kubernetes/src/x.ts": 'import { readFile } from "fs/promises";' })).toEqual([
      expect.stringContaining("write node:fs/promises"),
    ]);
    const files = {
      "packages/relay/src/transport/grpcClient.ts": 'import { connect } from "node:tls";\nexport const client = connect;',
      "packages/relay/src/session/outbox.ts": '// the outbox\nimport { client } from "../transport/grpcClient.ts";',
    };
    expect(problemsIn(files)).toEqual([
      "packages/relay/src/session/outbox.ts:2: packages/relay/src/transport/grpcClient.ts does not run in a browser, and this file must",
    ]);
  });

  it("keeps a hidden library where it is hidden", () => {
    const text = 'import { KubeConfig } from "@kubernetes/client-node";';
    expect(problemsIn({ "packages/kubernetes/src/kubeconfig.ts": text })).toEqual([]);
    expect(problemsIn({ "apps/agent/src/main.ts": text })).toEqual([
      expect.stringContaining("is imported by packages/kubernetes/src/ alone"),
    ]);
  });

  it("wants every import declared where it is made", () => {
    expect(problemsIn({ "packages/api/src/x.ts": 'import Ajv from "ajv/dist/2020.js";' })).toEqual([
      "packages/api/src/x.ts:1: ajv is not a dependency in packages/api/package.json",
    ]);
    expect(problemsIn({ "apps/agent/src/x.ts": 'import { Mesh } from "@isthmus/api";' })).toEqual([
      expect.stringContaining("@isthmus/api is not a dependency in apps/agent/package.json"),
    ]);
    const text = 'import { test } from "vitest";';
    expect(problemsIn({ "packages/api/src/x.test.ts": text, "tools/x.ts": text })).toEqual([]);
    expect(problemsIn({ "packages/api/src/x.ts": text })).toEqual([expect.stringContaining("vitest is not a dependency")]);
  });

  it("keeps tests out of source, and lets tests import any package", () => {
    const files = { "packages/core/test/sample.ts": 'import { golden } from "@isthmus/testing";\nimport { Mesh } from "@isthmus/api";' };
    expect(problemsIn(files)).toEqual([]);
    expect(problemsIn({ ...files, "packages/core/src/x.ts": 'import "../test/sample.ts";' })).toEqual([
      expect.stringContaining("packages/core/test/sample.ts is a test file"),
    ]);
  });

  it("finds a cycle at run time, also through packages, and none in types or late imports", () => {
    const ring = (form: (path: string) => string): Record<string, string> => ({
      "packages/core/src/a.ts": form("./b.ts"),
      "packages/core/src/b.ts": form("./c.ts"),
      "packages/core/src/c.ts": form("./a.ts"),
    });
    expect(problemsIn(ring((path) => `import { x } from "${path}";`))).toEqual([
      "import cycle at run time: packages/core/src/a.ts -> packages/core/src/b.ts -> packages/core/src/c.ts -> packages/core/src/a.ts",
    ]);
    expect(problemsIn(ring((path) => `import type { X } from "${path}";`))).toEqual([]);
    expect(problemsIn(ring((path) => `const x = () => import("${path}");`))).toEqual([]);
    const files = {
      "packages/core/src/index.ts": 'import "./a.ts";',
      "packages/core/src/a.ts": 'import "@isthmus/api";',
      "packages/api/src/index.ts": 'import "@isthmus/core";',
    };
    expect(problemsIn(files)).toContainEqual(expect.stringContaining("import cycle at run time: packages/api/src/index.ts"));
  });

  describe("inside a package with a table of folders", () => {
    const src = "packages/translators/src";
    const files = Object.fromEntries(
      ["findings", "policy/selectors", "meshes/inputs", "meshes/istio/istio", "meshes/osm/osm", "attachment/attachment"].map((path) => [
        `${src}/${path}.ts`,
        "export type X = 1;",
      ]),
    );

    it("accepts what the table of folders allows", () => {
      const problems = problemsIn({
        ...files,
        [`${src}/meshes/istio/routes/route.ts`]: 'import type { X } from "../../inputs.ts";\nimport type { X as Y } from "../istio.ts";',
        [`${src}/meshes/meshTranslators.ts`]: 'import type { X } from "./istio/istio.ts";\nimport type { X as Y } from "./inputs.ts";',
        [`${src}/attachment/verdicts.ts`]:
          'import type { X } from "../meshes/meshTranslators.ts";\nimport type { X as Y } from "../policy/selectors.ts";',
        [`${src}/index.ts`]: 'export type { X } from "./meshes/istio/istio.ts";',
        // Tests look at anything.
        [`${src}/policy/selectors.test.ts`]: 'import type { X } from "../meshes/istio/istio.ts";',
      });
      expect(problems).toEqual([]);
    });

    it.each([
      ["policy/x.ts", "../meshes/istio/istio.ts", "policy may not import meshes/istio: it imports only ., incremental"],
      ["policy/x.ts", "../meshes/inputs.ts", "policy may not import meshes: it imports only"],
      ["attachment/x.ts", "../meshes/istio/istio.ts", "attachment may not import meshes/istio: it imports only"],
      ["meshes/osm/x.ts", "../istio/istio.ts", "meshes/osm may not import meshes/istio: it imports only"],
      ["meshes/istio/x.ts", "../../attachment/attachment.ts", "meshes/istio may not import attachment: it imports only"],
      ["findings2.ts", "./policy/selectors.ts", ". may not import policy: it imports no other folder"],
      ["policy/x.ts", "../networking/y.ts", "networking/y.ts of translators has no row in folderTable"],
    ])("refuses %s to import %s", (from, specifier, problem) => {
      const fresh = { [`${src}/networking/y.ts`]: "export type X = 1;" };
      const text = `import type { X } from "${specifier}";`;
      expect(problemsIn({ ...files, ...fresh, [`${src}/${from}`]: text })).toEqual([expect.stringContaining(problem)]);
    });
  });

  it("refuses a package with folders and without a table of them, once", () => {
    const text = "export const x = 1;";
    const flat = { "packages/store/src/a.ts": text, "packages/store/src/gen.test/b.test.ts": text, "packages/store/test/c/d.ts": text };
    expect(problemsIn(flat)).toEqual([]);
    const problem = "and no table of folders: add it to folderTable of tools/packageTable.ts, and run npm run generate:architecture";
    expect(
      problemsIn({ "packages/store/src/deep/a.ts": text, "packages/store/src/other/b.ts": text, "apps/agent/src/x/y.ts": text }),
    ).toEqual([`packages/store has the folder src/deep ${problem}`, `apps/agent has the folder src/x ${problem}`]);
  });

  it("refuses a table of folders that lists an import which no file makes, or one of a folder above", () => {
    const used = new Set(["apply ports", "apply runtime"]);
    expect(tableProblems("plane", used)).toContain("folderTable of plane: no file of apply imports informer");
    expect(tableProblems("plane", used)).not.toContainEqual(expect.stringContaining("apply imports ports"));
  });

  it("does not pass where it saw nothing", () => {
    expect(checkImports(new Map()).problems).toEqual(["no TypeScript file was found"]);
  });
});
