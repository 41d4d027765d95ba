import { Pod, ReplicaSet } from "@isthmus/api";
import { emptySnapshot, type Resource, type ResourceRef } from "@isthmus/core";
import { expect, it } from "vitest";
import { podAddresses, podsAtAddress } from "../src/agent/observability/podAddresses.ts";

const at = { namespace: "bookinfo", clusterName: "cluster-1" };

function owned(kind: string, name: string, owner: { readonly kind: string; readonly name: string }): Resource {
  const reference = { apiVersion: "apps/v1", controller: true, ...owner };
  return { apiVersion: kind === "Pod" ? "v1" : "apps/v1", kind, metadata: { ...at, name, ownerReferences: [reference] } };
}

function seen(name: string, addresses: readonly string[], { phase = "Running", namespace = "bookinfo" } = {}): Resource {
  const status = { phase, podIP: addresses[0], podIPs: addresses.map((ip) => ({ ip })) };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace }, status } as unknown as Resource;
}

function ref(name: string): ResourceRef {
  return { apiVersion: "v1", kind: "Pod", name, ...at };
}

it("finds the pods that have an address, and what they belong to", () => {
  const put = [
    Pod.parse(owned("Pod", "reviews-v1-abc", { kind: "ReplicaSet", name: "reviews-v1-5d" })),
    ReplicaSet.parse(owned("ReplicaSet", "reviews-v1-5d", { kind: "Deployment", name: "reviews-v1" })),
    Pod.parse(owned("Pod", "db-0", { kind: "StatefulSet", name: "db" })),
  ];
  const snapshot = emptySnapshot().apply({ put, remove: [] });
  const addresses = podAddresses();
  const found = (address: string) =>
    podsAtAddress(snapshot, addresses, { address, clusterName: "cluster-1" }).map(({ name, workloadName }) => [name, workloadName]);
  addresses.seen(seen("reviews-v1-abc", ["10.0.0.7", "fd00::7"]));
  addresses.seen(seen("db-0", ["10.0.0.8"]));
  // Of the node, which they share; of the second nothing else is known.
  addresses.seen(seen("agent", ["10.0.0.8"]));
  for (const address of ["10.0.0.7", "fd00::7"]) expect(found(address)).toEqual([["reviews-v1-abc", "reviews-v1"]]);
  expect(found("10.0.0.8")).toEqual([
    ["db-0", "db"],
    ["agent", "agent"],
  ]);
  expect(found("10.0.0.9")).toEqual([]);
});

it("follows pods: their addresses change, end with them, and are another's once they have ended", () => {
  const addresses = podAddresses();
  addresses.seen(seen("db-0", ["10.0.0.8"]));
  addresses.seen(seen("db-0", ["10.0.0.9"]));
  expect([[...addresses.at("10.0.0.8")], [...addresses.at("10.0.0.9")]]).toEqual([[], ["bookinfo/db-0"]]);
  addresses.seen(seen("job", ["10.0.0.10"]));
  addresses.seen(seen("job", ["10.0.0.10"], { phase: "Succeeded" }));
  addresses.seen(seen("next", ["10.0.0.10"], { namespace: "shop" }));
  expect([...addresses.at("10.0.0.10")]).toEqual(["shop/next"]);
  addresses.removed(ref("db-0"));
  expect([...addresses.at("10.0.0.9")]).toEqual([]);
});

it.each([{ podIPs: "10.0.0.7" }, { podIPs: [null, {}, { ip: 7 }, { ip: "x".repeat(1_000) }] }, "none"])(
  "takes no address of a status that is none: %j",
  (status) => {
    const addresses = podAddresses();
    addresses.seen({ apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "b" }, status } as unknown as Resource);
    for (const address of ["10.0.0.7", "x".repeat(1_000)]) expect([...addresses.at(address)]).toEqual([]);
  },
);
