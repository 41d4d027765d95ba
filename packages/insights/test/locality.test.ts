import { kindKeyOf, type Resource, refOf, resourceKeyOf, snapshotOf } from "@isthmus/core";
import { runs } from "@isthmus/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RULES } from "../src/index.ts";
import { codesWithFixtures, fixture, insightsIn } from "./fixtures.ts";

// Translation makes Meshes, Workloads and Destinations of these: what stands beside them may be another mesh, or another service.
const DISCOVERED_FROM = new Set(["Mesh", "Workload", "Destination", "Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "ConfigMap"]);

/** What is found by one code of the objects that are judged. */
function found(code: string, objects: readonly Resource[], judged: ReadonlySet<string>) {
  const all = insightsIn(snapshotOf(objects)).all;
  return all.filter((insight) => insight.code === code && judged.has(resourceKeyOf(insight.object)));
}

test("what a rule finds does not change beside objects of kinds that it does not read", () => {
  const others = codesWithFixtures().flatMap((code) => [...fixture(code, "finds"), ...fixture(code, "quiet")]);
  fc.assert(
    fc.property(fc.constantFrom(...RULES), fc.array(fc.nat(others.length - 1), { maxLength: 30 }), ({ code, reads, of }, picked) => {
      const resources = fixture(code, "finds");
      const known = new Set(resources.map((resource) => resourceKeyOf(refOf(resource))));
      const read = new Set([of, ...reads].map(kindKeyOf));
      // A rule that reads what translation makes depends on all that translation reads.
      if ([of, ...reads].some(({ kind }) => DISCOVERED_FROM.has(kind))) return;
      const beside = picked
        .flatMap((i) => others[i] ?? [])
        .filter((resource) => !read.has(kindKeyOf(resource)) && !known.has(resourceKeyOf(refOf(resource))));
      expect(found(code, [...resources, ...beside], known), code).toEqual(found(code, resources, known));
    }),
    { numRuns: runs(300) },
  );
});

test("what a rule finds does not change beside another cluster that has nothing of the same name", () => {
  for (const { code } of RULES) {
    const resources = fixture(code, "finds");
    const known = new Set(resources.map((resource) => resourceKeyOf(refOf(resource))));
    const elsewhere = ["Namespace", "Service", "VirtualService", "Gateway", "AuthorizationPolicy"].map((kind, i): Resource => {
      const group = ["v1", "v1", "networking.istio.io/v1", "networking.istio.io/v1", "security.istio.io/v1"][i] as string;
      const place = kind === "Namespace" ? { name: "elsewhere" } : { name: "elsewhere", namespace: "elsewhere" };
      return { apiVersion: group, kind, metadata: { ...place, clusterName: "elsewhere" } };
    });
    expect(found(code, [...resources, ...elsewhere], known), code).toEqual(found(code, resources, known));
  }
});
