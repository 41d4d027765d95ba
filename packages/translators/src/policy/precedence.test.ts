import { FIRST_SEEN, type Resource } from "@isthmus/core";
import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AgeSource, ageOf, compareAges, precedence } from "./precedence.ts";

const MOMENTS = [undefined, "1970-01-01T00:00:00Z", "2026-01-01T00:00:00.001Z", "2026-01-01T00:00:00.002Z", "tomorrow"];

function resources(): fc.Arbitrary<Resource> {
  return fc
    .record({
      name: fc.constantFrom("a", "b"),
      namespace: fc.constantFrom("a", "b"),
      clusterName: fc.constantFrom("", "a", "b"),
      creationTimestamp: fc.constantFrom(...MOMENTS),
      stamp: fc.constantFrom(...MOMENTS),
    })
    .map(({ creationTimestamp, stamp, ...place }) => ({
      apiVersion: "v1",
      kind: "Service",
      metadata: {
        ...place,
        ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
        ...(stamp === undefined ? {} : { annotations: { [FIRST_SEEN]: stamp } }),
      },
    }));
}

const ages = fc.constantFrom<AgeSource>("FIRST_SEEN", "CREATED");

function object(clusterName: string, creationTimestamp?: string, stamp?: string): Resource {
  const annotations = stamp === undefined ? {} : { annotations: { [FIRST_SEEN]: stamp } };
  const created = creationTimestamp === undefined ? {} : { creationTimestamp };
  return { apiVersion: "v1", kind: "Service", metadata: { name: "n", namespace: "n", clusterName, ...created, ...annotations } };
}

describe("precedence", () => {
  it("is a total order: one of two comes first, they change sides together, and it is transitive", () => {
    fc.assert(
      fc.property(resources(), resources(), resources(), ages, (a, b, c, word) => {
        const compare = precedence(word);
        expect(Math.sign(compare(a, b))).toBe(-Math.sign(compare(b, a)) || 0);
        const { name, namespace, clusterName } = a.metadata;
        const isSameName = name === b.metadata.name && namespace === b.metadata.namespace && clusterName === b.metadata.clusterName;
        if (compare(a, b) === 0) expect(isSameName).toBe(true);
        if (compare(a, b) <= 0 && compare(b, c) <= 0) expect(compare(a, c)).toBeLessThanOrEqual(0);
      }),
      { numRuns: runs(3000) },
    );
  });

  it("is not moved by what a workload cluster says of its objects' ages, but among its own of one moment", () => {
    fc.assert(
      fc.property(resources(), resources(), fc.constantFrom(...MOMENTS), (a, b, forged) => {
        fc.pre(a.metadata.clusterName !== "" && a.metadata.clusterName !== b.metadata.clusterName);
        const { creationTimestamp: _, ...metadata } = a.metadata;
        const other = { ...a, metadata: { ...metadata, ...(forged === undefined ? {} : { creationTimestamp: forged }) } };
        const compare = precedence("FIRST_SEEN");
        expect(compare(other, b)).toBe(compare(a, b));
      }),
      { numRuns: runs(1000) },
    );
  });

  it("puts the management cluster first, whatever anybody says", () => {
    const ofManagement = object("", "2026-06-01T00:00:00Z");
    const old = object("a", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z");
    for (const word of ["FIRST_SEEN", "CREATED"] as const) expect(precedence(word)(ofManagement, old)).toBeLessThan(0);
    expect(precedence("FIRST_SEEN")(ofManagement, object("", "2026-01-01T00:00:00Z", "1970-01-01T00:00:00Z"))).toBeGreaterThan(0);
  });

  it("takes what is not stamped for the youngest, but in files, where its own date stands for the stamp", () => {
    const unstamped = object("a", "1970-01-01T00:00:00Z");
    const stamped = object("b", "2026-06-01T00:00:00Z", "2026-06-01T00:00:00.000Z");
    expect(precedence("FIRST_SEEN")(unstamped, stamped)).toBeGreaterThan(0);
    expect(precedence("CREATED")(unstamped, stamped)).toBeLessThan(0);
  });

  it("of what was received at one moment orders each cluster's by its own dates, after the clusters' names", () => {
    const moment = "2026-06-01T00:00:00.000Z";
    const [first, second, other] = [
      object("b", "2026-01-01T00:00:00Z", moment),
      object("b", "2026-02-01T00:00:00Z", moment),
      object("c", "1970-01-01T00:00:00Z", moment),
    ];
    const age = (one: Resource) => ageOf(one.metadata, "FIRST_SEEN");
    expect(compareAges(age(first), age(second))).toBeLessThan(0);
    expect(compareAges(age(second), age(other))).toBeLessThan(0);
  });
});
