import { ApiDoc } from "@isthmus/api";
import { snapshotOf } from "@isthmus/core";
import type { Server } from "@isthmus/plane";
import { PageRefusal } from "@isthmus/process";
import { expect, it } from "vitest";
import { apiSchemaPage, apisPage } from "../src/apis.ts";

const served = (name: string, more: object = {}) => ({ destinationSelector: { selector: { name, ...more } } });

function doc(name: string, clusterName: string, spec: object, status = {}): ApiDoc {
  return ApiDoc.parse({ apiVersion: ApiDoc.apiVersion, kind: "ApiDoc", metadata: { name, namespace: "shop", clusterName }, spec, status });
}

const json = '{"openapi":"3.0.3","info":{"title":"Revüe","version":"1.2"},"paths":{}}';
const condition = { type: "SchemaRead", status: "False", reason: "Unreachable", message: "the Service cannot be called" };
const docs = [
  doc("reviews-service", "east", {
    openapi: { inlineString: json },
    // An agent that speaks of Services of another cluster or namespace is not believed.
    servedBy: [
      served("reviews"),
      served("cards", { namespace: "payments" }),
      served("cards", { cluster: "west" }),
      served("x", { cluster: "east" }),
    ],
  }),
  doc("reviews-service", "west", { servedBy: [] }, { conditions: [condition] }),
  doc("by-users", "west", { openapi: { inlineString: "openapi: 3.0.0\n" } }),
  doc("hostile", "west", { openapi: { inlineString: `{"openapi":${JSON.stringify({})},"info":[1]` }, grpc: {} }),
];
const server = { store: { snapshot: snapshotOf(docs) } } as unknown as Pick<Server, "store">;

function listed(query = ""): readonly Record<string, unknown>[] {
  return (JSON.parse([...apisPage(server)(new URLSearchParams(query))].join("")) as { items: Record<string, unknown>[] }).items;
}

function schemaOf(id: string): string {
  const { contentType, text } = apiSchemaPage(server)(new URLSearchParams({ id }));
  return [contentType, ...text].join(" ");
}

it("lists the APIs of all clusters, each with the cluster that reported it and Services of its own place", () => {
  const [reviews, ...others] = listed("cluster=east");
  expect(others).toEqual([]);
  expect(reviews).toEqual({
    id: "reviews-service~shop~east",
    name: "reviews-service",
    namespace: "shop",
    cluster: "east",
    title: "Revüe",
    version: "1.2",
    openapi: "3.0.3",
    bytes: Buffer.byteLength(json),
    schema: "openapi",
    servedBy: [
      { name: "reviews", namespace: "shop", cluster: "east" },
      { name: "x", namespace: "shop", cluster: "east" },
    ],
  });
  expect(listed()).toHaveLength(4);
  expect(listed("namespace=payments")).toEqual([]);
});

it("says why a schema is missing, and lists what cannot be read", () => {
  const west = new Map(listed("cluster=west").map((item) => [item["name"], item]));
  expect(west.get("reviews-service")).toMatchObject({ schema: "none", problem: { reason: "Unreachable", message: condition.message } });
  expect(west.get("hostile")).toMatchObject({ schema: "openapi", servedBy: [] });
});

it("gives a schema as it is, with its type, and refuses ids of none", () => {
  expect(schemaOf("reviews-service~shop~east")).toBe(`application/json ${json}`);
  expect(schemaOf("by-users~shop~west")).toBe("application/yaml openapi: 3.0.0\n");
  for (const id of [
    "",
    "reviews-service",
    "reviews-service~shop~north",
    "reviews-service~shop~east~x",
    "reviews-service~shop~west",
    "__proto__",
  ])
    expect(() => schemaOf(id), id).toThrow(PageRefusal);
});
