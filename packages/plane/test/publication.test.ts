import { type Output, outputSet, type Resource, refOf, resourceKeyOf, runToCompletion, SortedMap } from "@isthmus/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { nothingPublished, type PublicationSources, publicationOf } from "../src/server/publication.ts";

const owner = { label: "owner.test", value: "me" } as const;
const PUBLISHED = new Set(["/Mesh", "/Secret"]);

function object(kind: string, name: string, value: number): Resource & { readonly data: number } {
  return {
    apiVersion: "v1",
    kind,
    metadata: { name, namespace: "n", clusterName: "", labels: { [owner.label]: owner.value } },
    data: value,
  };
}

const objects = fc
  .uniqueArray(fc.tuple(fc.constantFrom("Mesh", "Secret", "Other"), fc.constantFrom("a", "b"), fc.nat(2)), {
    selector: ([kind, name]) => `${kind} ${name}`,
  })
  .map((all) => all.map(([kind, name, value]) => object(kind, name, value)));

test("what is published follows its sources, and costs nothing where they stay", () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ own: objects, discovery: objects, remembered: objects, hidden: fc.subarray(["a", "b"]) }), {
        minLength: 1,
        maxLength: 6,
      }),
      (steps) => {
        let publication = nothingPublished;
        for (const step of steps) {
          const sources: PublicationSources = {
            own: outputSet(owner, step.own.map(output)),
            discovery: outputSet(owner, step.discovery.map(output)),
            remembered: keyed(step.remembered),
            isInScope: ({ metadata }) => !step.hidden.includes(metadata.name),
            rescoped: "all",
          };
          publication = runToCompletion(publicationOf(sources, publication, PUBLISHED));
          const own = step.own.filter(({ kind }) => kind !== "Other");
          const expected = keyed([...step.remembered, ...step.discovery.filter(sources.isInScope), ...own]);
          expect([...publication.desired]).toEqual([...expected]);
          expect(runToCompletion(publicationOf({ ...sources, rescoped: [] }, publication, PUBLISHED)).desired).toBe(publication.desired);
        }
      },
    ),
  );
});

function output(resource: Resource): Output {
  return { resource, parents: [] };
}

function keyed(resources: readonly Resource[]): SortedMap<Resource> {
  return SortedMap.empty<Resource>().update(resources.map((resource) => [resourceKeyOf(refOf(resource)), resource] as const));
}
