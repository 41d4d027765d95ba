import { expect, it } from "vitest";
import { emptySnapshot, type Index, type Kind, type Resource } from "../src/index.ts";

function kind(name: string): Kind {
  return { apiVersion: "v1", kind: name, plural: `${name}s`, namespaced: true, versions: ["v1"], parse: (input) => input as Resource };
}

it("never asks an index of one kind about resources of another", () => {
  const asked: string[] = [];
  const byName: Index<Resource> = (resource) => {
    asked.push(resource.kind);
    return [resource.metadata.name];
  };
  const empty = emptySnapshot();
  expect(empty.of(kind("Service")).where(byName, "web")).toEqual([]);
  const filled = empty.apply({ put: [{ apiVersion: "v1", kind: "Pod", metadata: { name: "web" } }], remove: [] });
  expect(filled.of(kind("Pod")).size).toBe(1);
  expect(asked).toEqual([]);
});
