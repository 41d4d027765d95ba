import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DuplicateOutput, outputSet, type Resource, refOf, resourceKeyOf } from "../src/index.ts";

const owner = { label: "owner.example.com", value: "me" } as const;

function object(name: string, value: string, labels: Record<string, string> = { [owner.label]: owner.value }): Resource {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "n", clusterName: "c", labels }, data: { value } } as Resource;
}

const objects = fc.uniqueArray(fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom("1", "2")), { selector: ([name]) => name });

describe("output set", () => {
  it("diff turns what is there into what is wanted", () => {
    fc.assert(
      fc.property(objects, objects, (wanted, actual) => {
        const set = outputSet(
          owner,
          wanted.map(([name, value]) => ({ resource: object(name, value), parents: [] })),
        );
        const existing = actual.map(([name, value]) => object(name, value));
        const { put, remove } = set.diff(existing);
        const result = new Map(existing.map((resource) => [resourceKeyOf(refOf(resource)), resource]));
        for (const resource of put) result.set(resourceKeyOf(refOf(resource)), resource);
        for (const ref of remove) result.delete(resourceKeyOf(ref));
        expect([...result.keys()].sort()).toEqual([...set].map(({ resource }) => resourceKeyOf(refOf(resource))));
        expect(set.diff(result.values())).toEqual({ put: [], remove: [] });
      }),
    );
  });

  it("never removes an object without the owner's label", () => {
    const foreign = [object("x", "1", {}), object("y", "1", { [owner.label]: "somebody-else" })];
    expect(outputSet(owner).diff(foreign).remove).toEqual([]);
  });

  it("labels its outputs, and refuses two of one name", () => {
    const bare = { resource: object("a", "1", { app: "a" }), parents: [] };
    const [labelled] = outputSet(owner, [bare]);
    expect(labelled?.resource.metadata.labels).toEqual({ app: "a", [owner.label]: "me" });
    expect(() => outputSet(owner, [bare, bare])).toThrow(DuplicateOutput);
    expect(() => outputSet(owner, [bare]).union(outputSet(owner, [bare]))).toThrow("ConfigMap a.n in c");
  });
});
