import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { inOrder, printed } from "../src/offline/print.ts";

const object = (apiVersion: string, kind: string, name: string, rest: object = {}) => ({ apiVersion, kind, metadata: { name }, ...rest });
const text = (objects: Parameters<typeof printed>[0], format: "yaml" | "json"): string => [...printed(objects, format)].join("");

describe("inOrder", () => {
  it("sorts by apiVersion, kind, cluster, namespace and name, in byte order", () => {
    const named = (clusterName: string | undefined, namespace: string, name: string) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace, ...(clusterName === undefined ? {} : { clusterName }) },
    });
    const sorted = [
      object("networking.istio.io/v1", "DestinationRule", "a"),
      object("networking.istio.io/v1", "Gateway", "a"),
      named(undefined, "b", "a"),
      named("c", "a", "a"),
      named("c", "a", "b"),
      named("c", "a-b", "a"),
      named("c-1", "a", "a"),
    ];
    expect(inOrder([...sorted].reverse())).toEqual(sorted);
  });
});

describe("printed", () => {
  const shared = { x: ["y"] };
  const objects = [
    object("v1", "A", "a", { spec: { one: shared, two: shared } }),
    object("v1", "B", "b", { spec: { long: "word ".repeat(60) } }),
  ];

  it("writes YAML documents without aliases and folding", () => {
    const yaml = text(objects, "yaml");
    expect(yaml).not.toMatch(/[&*]a1/);
    expect(yaml).toContain(`long: "${"word ".repeat(60)}"`);
    expect(parseAllDocuments(yaml).map((document) => document.toJS())).toEqual(objects);
  });

  it("quotes what a reader of YAML 1.1 would take for something else", () => {
    const spec = { a: "on", b: "yes", c: "1e3", d: "0777", e: "12:30", f: "null", g: "2024-01-01", h: true, i: 1 };
    const yaml = text([object("v1", "A", "a", { spec })], "yaml");
    expect(parse(yaml, { version: "1.1" })).toMatchObject({ spec });
    expect(parse(yaml, { version: "1.2" })).toMatchObject({ spec });
  });

  it("writes one JSON List, also of nothing", () => {
    expect(JSON.parse(text(objects, "json"))).toEqual({ apiVersion: "v1", kind: "List", items: objects });
    expect(JSON.parse(text([], "json"))).toEqual({ apiVersion: "v1", kind: "List", items: [] });
    expect(text([], "yaml")).toBe("");
  });
});
