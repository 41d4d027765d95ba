import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DuplicateOutput, inCluster, type Output, type OutputSet, outputSet, type Resource, refOf, resourceKeyOf } from "../src/index.ts";
import { clusterNameIn } from "../src/ref.ts";

const owner = { label: "owner.example.com", value: "me" } as const;

function object(name: string, value: string, labels: Record<string, string> = { [owner.label]: owner.value }): Resource {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "n", clusterName: "c", labels }, data: { value } } as Resource;
}

function keyed(set: OutputSet): ReadonlyMap<string, Output> {
  return new Map(set.entries());
}

const objects = fc.uniqueArray(fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom("1", "2")), { selector: ([name]) => name });

describe("output set", () => {
  it("diff turns what is there into what is desired", () => {
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

  it("changed step by step is the set made at once, and knows what changed", () => {
    const step = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom("", "x", "y"), fc.constantFrom("1", "2", undefined)));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
        let set = outputSet(owner);
        const model = new Map<string, Output>();
        for (const changes of steps) {
          const edits = changes.map(([name, clusterName, value]) => {
            const resource = inCluster(object(name, value ?? ""), clusterName);
            return [resourceKeyOf(refOf(resource)), value === undefined ? undefined : { resource, parents: [] }] as const;
          });
          for (const [key, output] of edits) output === undefined ? model.delete(key) : model.set(key, output);
          const next = set.with(edits);
          const wanted = outputSet(owner, model.values());
          expect([...next]).toEqual([...wanted]);
          expect([...next.entries()]).toEqual([...wanted.entries()]);
          expect(next.size).toBe(model.size);
          expect(next.clusters()).toEqual(wanted.clusters());
          for (const name of ["", "x", "y"]) expect([...next.inCluster(name)]).toEqual([...wanted.inCluster(name)]);
          const changed = next.changesSince(set);
          for (const name of ["", "x", "y"]) {
            if (edits.every(([key]) => clusterNameIn(key) !== name)) expect(next.inCluster(name)).toBe(set.inCluster(name));
          }
          for (const { key, before, after } of changed) {
            expect(before).toBe(keyed(set).get(key));
            expect(after).toBe(model.get(key));
            expect(after).not.toBe(before);
          }
          expect([...keyed(next)].every(([key, output]) => keyed(set).get(key) === output || changed.some((one) => one.key === key))).toBe(
            true,
          );
          expect([...set.with(changed.map(({ key, after }) => [key, after]))]).toEqual([...next]);
          set = next;
        }
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
    expect(() => outputSet(owner).with([["k", bare]])).toThrow("label");
    expect(() => outputSet(owner, [bare, bare])).toThrow(DuplicateOutput);
    expect(() => outputSet(owner, [bare]).union(outputSet(owner, [bare]))).toThrow("ConfigMap n/a in c");
  });
});
