import { Pod, Service } from "@isthmus/api";
import { type Resource, refOf, snapshotOf } from "@isthmus/core";
import { expect, test } from "vitest";
import { watchedSnapshot } from "../src/index.ts";

const [pod, service, other] = [named("Pod", "a"), named("Service", "a"), named("Service", "b")];

function named(kind: string, name: string): Resource {
  return { apiVersion: "v1", kind, metadata: { name, namespace: "n", clusterName: "c" } };
}

test("what is looked up, found by index or iterated counts as read, and nothing else", () => {
  const { snapshot, readRefs } = watchedSnapshot(snapshotOf([pod, service, other]));
  expect(snapshot.of(Service).size).toBe(2);
  expect([...readRefs()]).toEqual([]);
  snapshot.of(Service).get(refOf(service));
  expect([...readRefs()]).toEqual(["Service n/a in c"]);
  snapshot.of(Service).where(({ metadata }) => [metadata.name], "b");
  expect(readRefs()).toContain("Service n/b in c");
  expect(readRefs()).not.toContain("Pod n/a in c");
  for (const each of snapshot.of(Pod)) expect(each.metadata.name).toBe("a");
  expect(readRefs()).toContain("Pod n/a in c");
});

test("reading a snapshot that was made from it counts, too", () => {
  const { snapshot, readRefs } = watchedSnapshot(snapshotOf([pod]));
  snapshot
    .apply({ put: [service], remove: [] })
    .of(Pod)
    .get(refOf(pod));
  expect(readRefs()).toContain("Pod n/a in c");
});
