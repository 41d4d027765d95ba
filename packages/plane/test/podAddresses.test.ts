import { EndpointSlice, Pod, ReplicaSet } from "@isthmus/api";
import { emptySnapshot, type Resource } from "@isthmus/core";
import { expect, it } from "vitest";
import { podsAtAddress } from "../src/agent/podAddresses.ts";

const at = { namespace: "bookinfo", clusterName: "cluster-1" };

function owned(kind: string, name: string, owner: { readonly kind: string; readonly name: string }): Resource {
  const reference = { apiVersion: "apps/v1", controller: true, ...owner };
  return { apiVersion: kind === "Pod" ? "v1" : "apps/v1", kind, metadata: { ...at, name, ownerReferences: [reference] } };
}

function slice(name: string, pods: Readonly<Record<string, string>>): Resource {
  const endpoints = Object.entries(pods).map(([pod, address]) => ({
    addresses: [address],
    targetRef: { kind: "Pod", name: pod, namespace: "bookinfo" },
  }));
  return { apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", metadata: { ...at, name }, endpoints } as Resource;
}

it("finds the pods that have an address, and what they belong to", () => {
  const put = [
    Pod.parse(owned("Pod", "reviews-v1-abc", { kind: "ReplicaSet", name: "reviews-v1-5d" })),
    ReplicaSet.parse(owned("ReplicaSet", "reviews-v1-5d", { kind: "Deployment", name: "reviews-v1" })),
    Pod.parse(owned("Pod", "db-0", { kind: "StatefulSet", name: "db" })),
    EndpointSlice.parse(slice("reviews-1", { "reviews-v1-abc": "10.0.0.7", "db-0": "10.0.0.8" })),
    // The same pod behind another Service, and one that shares an address, of which nothing else is known.
    EndpointSlice.parse(slice("all-1", { "db-0": "10.0.0.8", agent: "10.0.0.8" })),
  ];
  const snapshot = emptySnapshot().apply({ put, remove: [] });
  expect(podsAtAddress(snapshot, "10.0.0.7")).toEqual([{ namespace: "bookinfo", name: "reviews-v1-abc", workloadName: "reviews-v1" }]);
  expect(podsAtAddress(snapshot, "10.0.0.8").map(({ name, workloadName }) => [name, workloadName])).toEqual([
    ["db-0", "db"],
    ["agent", "agent"],
  ]);
  expect(podsAtAddress(snapshot, "10.0.0.9")).toEqual([]);
});

it("takes the word of an EndpointSlice for pods of its own namespace alone", () => {
  const theirs = slice("reviews-2", { "reviews-v1-abc": "10.0.0.66" });
  const elsewhere = { ...theirs, metadata: { ...theirs.metadata, namespace: "team-a" } } as Resource;
  const snapshot = emptySnapshot().apply({ put: [EndpointSlice.parse(elsewhere)], remove: [] });
  expect(podsAtAddress(snapshot, "10.0.0.66")).toEqual([]);
});
