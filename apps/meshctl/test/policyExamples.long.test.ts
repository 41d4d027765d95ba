import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  AccessLogRecord,
  AccessPolicy,
  ServiceDependency,
  Settings,
  TrafficPolicy,
  VirtualDestination,
  WasmDeployment,
} from "@isthmus/api";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { meshctl } from "../src/meshctl.ts";
import { recordedIo } from "./recordedIo.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const pages = readdirSync(`${root}docs/policies`).map((name) => ({ name, text: readFileSync(`${root}docs/policies/${name}`, "utf8") }));

interface Example {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

const examples = pages.flatMap(({ name: page, text }) =>
  [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, yaml = ""]) => ({ page, yaml, object: parse(yaml) as Example })),
);

// As the pages say: both clusters; and what federates them, where traffic goes from one to the other.
const files = ["cluster-1.yaml", "cluster-2.yaml"].flatMap((name) => ["-f", `${root}docs/examples/${name}`]);
const federation = parseAllDocuments(readFileSync(`${root}docs/examples/policies.yaml`, "utf8")).find(
  (document) => document.get("kind") === "VirtualMesh",
);

async function run(
  command: string,
  policy: string,
  isFederated: boolean,
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const io = recordedIo(isFederated ? `${String(federation)}\n---\n${policy}` : policy);
  const code = await meshctl([command, ...files, "-f", "-"], io);
  return { code, ...io.written };
}

describe("the examples of docs/policies", () => {
  test.for(examples.map((example) => [`${example.page}: ${example.object.metadata.name}`, example] as const))(
    "%s is accepted without a warning, and has an effect",
    async ([, { yaml, object }]) => {
      const isFederated = /trafficShift|mirror|[vV]irtualDestination|ServiceDependency/.test(yaml);
      // What a policy selects beside it, of the same page.
      const beside = /virtualDestination(Refs|Matcher|:)/.test(yaml)
        ? examples.filter(({ object }) => object.metadata.name === "reviews")
        : [];
      const together = (policy: string) => [...beside.map((one) => one.yaml), policy].join("---\n");
      const checked = await run("validate", together(yaml), isFederated);
      expect([checked.code, checked.err]).toEqual([0, expect.stringMatching(/^\d+ objects read; 0 errors, 0 warnings\n$/)]);
      // Settings change what is made of other objects.
      if (object.kind === Settings.kind) return;
      const without = await run("translate", together("apiVersion: v1\nkind: List\nitems: []\n"), isFederated);
      expect(without.out).not.toBe("");
      expect((await run("translate", together(yaml), isFederated)).out).not.toBe(without.out);
    },
  );

  test("what if a cluster fails: the host of a VirtualDestination moves to the other one", async () => {
    const [{ yaml } = { yaml: "" }] = examples.filter(({ object }) => object.kind === VirtualDestination.kind);
    const io = recordedIo(`${String(federation)}\n---\n${yaml}`);
    expect(await meshctl(["what-if", "--without", "cluster-1", ...files, "-f", "-", "--fail-on", "never"], io)).toBe(0);
    expect(io.written.out).toMatch(/^BACKUP_LOST +reviews\.mesh\.global +cluster-2 +cluster-2 +cluster-2, then cluster-1$/m);
    expect(io.written.out).toMatch(/^ELSEWHERE +reviews\.bookinfo\.svc\.cluster\.local +cluster-1 /m);
  });

  test.each([TrafficPolicy, AccessPolicy, VirtualDestination, ServiceDependency, AccessLogRecord, WasmDeployment])(
    "show each field of $kind",
    ({ kind, definition }) => {
      const shown = new Set(examples.filter(({ object }) => object.kind === kind).flatMap(({ object }) => fieldsOf(object.spec)));
      const fields = fieldsOfSchema((definition.fields as { readonly spec: Schema }).spec);
      expect(fields.filter((field) => !shown.has(field) && !(field in NOT_SHOWN))).toEqual([]);
    },
  );

  test("show everything but what has no effect", () => {
    const all = [TrafficPolicy, AccessPolicy, VirtualDestination].flatMap(({ definition }) =>
      fieldsOfSchema((definition.fields as { readonly spec: Schema }).spec),
    );
    expect(Object.keys(NOT_SHOWN).filter((field) => !all.includes(field))).toEqual([]);
  });
});

/** Leaves that no example has, and why. */
const NOT_SHOWN: Readonly<Record<string, string>> = {
  "policy.mirror.virtualDestination.name": "needs a VirtualDestination beside it",
  "policy.mirror.virtualDestination.namespace": "the same",
  "policy.trafficShift.destinations.staticDestination.name": "refused: no static destination exists",
  "policy.trafficShift.destinations.staticDestination.namespace": "the same",
  "policy.trafficShift.destinations.clusterHeader": "refused: Istio cannot route by it",
};

interface Schema {
  readonly unsupported?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
}

/** The leaves of a schema that are in effect, without positions in lists and keys of maps: `httpRequestMatchers.uri.exact`. */
function fieldsOfSchema(schema: Schema, path = ""): readonly string[] {
  if (schema.unsupported !== undefined) return [];
  if (schema.items !== undefined) return fieldsOfSchema(schema.items, path);
  const members = Object.entries(schema.properties ?? {});
  if (members.length === 0) return [path];
  return members.flatMap(([name, member]) => fieldsOfSchema(member, path === "" ? name : `${path}.${name}`));
}

/** All paths that an object has, likewise. */
function fieldsOf(value: unknown, path = ""): readonly string[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((one) => fieldsOf(one, path))];
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, member]) => fieldsOf(member, path === "" ? name : `${path}.${name}`))];
}
