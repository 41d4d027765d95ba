import { Type } from "@sinclair/typebox";
import { expect, test } from "vitest";
import { allKinds, customResourceDefinitions } from "../src/index.ts";
import { customResourceDefinition } from "../src/kubernetes/customResourceDefinition.ts";

const DEFINITION = { apiVersion: "example.com/v1", kind: "Thing", plural: "things" };
const CRD = { description: "A thing." };

test("every kind of our own groups that users or agents write has a CRD", () => {
  const own = allKinds().filter(({ apiVersion }) =>
    /^(discovery|networking|settings|certificates)\.mesh\.gloo\.solo\.io\//.test(apiVersion),
  );
  const names = customResourceDefinitions().map(({ metadata }) => (metadata as { readonly name: string }).name);
  for (const { plural, apiVersion } of own) expect(names).toContain(`${plural}.${apiVersion.split("/")[0]}`);
});

test("a CRD says what the schema says, without what is ours alone", () => {
  const size = Type.Integer({ minimum: 1, wanted: "a size", description: "How large." });
  const spec = Type.Partial(Type.Object({ size, labels: Type.Unsafe({ type: "object", additionalProperties: Type.String() }) }));
  const crd = customResourceDefinition({ ...DEFINITION, fields: { spec: spec, status: Type.Object({}) } }, CRD);
  expect(crd).toEqual({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com", labels: { app: "gloo-mesh", "app.kubernetes.io/name": "gloo-mesh" } },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind: "Thing", listKind: "ThingList", plural: "things", singular: "thing" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              description: "A thing.",
              properties: {
                apiVersion: { type: "string" },
                kind: { type: "string" },
                metadata: { type: "object" },
                spec: {
                  type: "object",
                  properties: {
                    size: { type: "integer", minimum: 1, description: "How large." },
                    labels: { type: "object", additionalProperties: { type: "string" } },
                  },
                },
                status: { type: "object", properties: {} },
              },
            },
          },
          subresources: { status: {} },
        },
      ],
    },
  });
});

test("what a structural schema forbids is named with its place", () => {
  const spec = Type.Object({ choice: Type.Union([Type.Literal("a"), Type.Literal("b")]) });
  expect(() => customResourceDefinition({ ...DEFINITION, fields: { spec } }, CRD)).toThrow("spec.choice: anyOf is not allowed");
  const untyped = Type.Object({ anything: Type.Any() });
  expect(() => customResourceDefinition({ ...DEFINITION, fields: { spec: untyped } }, CRD)).toThrow(
    "spec.anything: a structural schema needs a type",
  );
});
