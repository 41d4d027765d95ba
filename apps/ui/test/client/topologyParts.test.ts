import type { ConsoleInsight } from "@isthmus/console/wire";
import { type Resource, refOf, resourceKeyOf, snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import type { Destination } from "../../client/data/kinds.ts";
import { parseFilter } from "../../client/model/lines/tokens.ts";
import { type Topology, topologyOf } from "../../client/model/topology/topology.ts";
import {
  boxesOf,
  foundIn,
  GRAPH_KEYS,
  PARTS,
  partsOf,
  topologyInsights,
  withoutParts,
  withPart,
  withParts,
} from "../../client/model/topology/topologyParts.ts";
import { boxTree, placeText } from "../../client/topology/boxes.ts";

function destination(name: string, namespace: string, clusterName: string, status: Destination["status"] = {}): Destination {
  return {
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Destination",
    metadata: {
      name: `${name}-${namespace}-${clusterName}`,
      namespace: "gloo-mesh",
      labels: { "cluster.discovery.mesh.gloo.solo.io": clusterName },
    },
    spec: { kubeService: { ref: { name, namespace, clusterName } } },
    status,
  };
}

const shift = {
  ref: { name: "shift", namespace: "shop" },
  spec: {
    policy: { trafficShift: { destinations: [{ kubeService: { name: "cart", namespace: "shop", clusterName: "c2" }, weight: 1 }] } },
  },
};
const objects: readonly Resource[] = [
  destination("web", "shop", "c1", { appliedTrafficPolicies: [shift] }),
  destination("cart", "shop", "c2", {
    appliedFederation: { federatedHostname: "cart.global", federatedToMeshes: [{ name: "m1", namespace: "gloo-mesh" }] },
  }),
  destination("dns", "kube-system", "c1"),
  {
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Mesh",
    metadata: { name: "m1", namespace: "gloo-mesh", labels: { "cluster.discovery.mesh.gloo.solo.io": "c1" } },
  },
];

function fleetOf(insights: readonly ConsoleInsight[] = []): Fleet {
  const fleet = emptyFleet();
  const rows = insights.map((insight) => [resourceKeyOf(insight.object), { object: insight.object, insights: [insight] }] as const);
  return { ...fleet, snapshot: snapshotOf(objects), insights: fleet.insights.with(rows), isReady: true };
}

const insight = (object: ConsoleInsight["object"], severity: ConsoleInsight["severity"]) =>
  ({ object, code: "RTE1001", severity, field: "spec", message: "", since: "" }) as unknown as ConsoleInsight;
const web = objects[0] as Destination;
const [cart] = [refOf(objects[1] as Destination)];

function found(topology: Topology, text: string, fleet = fleetOf()): readonly string[] {
  const context = { insights: topologyInsights(fleet, topology), typeText: (type: string) => type };
  return [...foundIn(topology, parseFilter(text), context)].map((id) => id.split(" ")[0]?.split(".")[0] ?? "").sort();
}

it("finds nodes by what nodes have, edges by what edges have, and both by what both have", () => {
  const topology = topologyOf(fleetOf());
  expect(topology.edges.map(({ type }) => type).sort()).toEqual(["federation", "route"]);
  expect(found(topology, "")).toEqual([]);
  expect(found(topology, "name:cart")).toEqual(["cart-shop-c2"]);
  expect(found(topology, "type:route")).toEqual(["route"]);
  expect(found(topology, "-type:route")).toEqual(["federation"]);
  expect(found(topology, "cluster:c2")).toEqual(["cart-shop-c2", "federation", "route"]);
  expect(found(topology, "cluster:c2 -type:federation")).toEqual(["route"]);
  expect(found(topology, "-ns:shop")).toEqual(["dns-kube-system-c1", "federation"]);
  expect(found(topology, "federated:yes")).toEqual(["cart-shop-c2"]);
  expect(found(topology, "policy:shop/shift from:c1/shop/web to:cart")).toEqual(["route"]);
  expect(found(topology, "cart -c1")).toEqual(["cart-shop-c2"]);
  // No key that there is none of, nor its negation, names anything.
  for (const text of ["mtls:yes", "-mtls:yes", "name:cart type:route", "__proto__:x"]) expect(found(topology, text)).toEqual([]);
});

it("finds by insights, of a namespace by those of all its services", () => {
  const fleet = fleetOf([insight(refOf(web), "error"), insight(cart, "warning")]);
  expect(found(topologyOf(fleet), "insight:error", fleet)).toEqual(["web-shop-c1"]);
  expect(found(topologyOf(fleet), "insight:none name:*", fleet)).toEqual(["dns-kube-system-c1"]);
  const grouped = topologyOf(fleet, 2);
  expect(grouped.isGrouped).toBe(true);
  expect(found(grouped, "insight:error name:*", fleet)).toEqual(["c1/shop"]);
  expect(found(grouped, "federated:yes", fleet)).toEqual(["c2/shop"]);
});

it("hides nodes with their edges, and edges alone", () => {
  const topology = topologyOf(fleetOf());
  const context = { insights: new Map(), typeText: (type: string) => type };
  const left = (text: string) => {
    const { nodes, edges } = withoutParts(topology, foundIn(topology, parseFilter(text), context));
    return [nodes.map(({ name }) => name).sort(), edges.map(({ type }) => type).sort()];
  };
  expect(left("ns:kube-system")).toEqual([
    ["cart", "web"],
    ["federation", "route"],
  ]);
  expect(left("type:*")).toEqual([["cart", "dns", "web"], []]);
  expect(left("cluster:c2 name:cart")).toEqual([["dns", "web"], ["federation"]]);
  expect(left("-nosuch:x")).toEqual([
    ["cart", "dns", "web"],
    ["federation", "route"],
  ]);
  expect(withParts(topology, partsOf("federation")).edges.map(({ type }) => type)).toEqual(["federation"]);
});

it("has parts and boxes in the address, whatever a link says", () => {
  expect([...partsOf(undefined)]).toEqual([...PARTS]);
  expect([...partsOf("nothing,constructor")]).toEqual([...PARTS]);
  expect([...partsOf("none")]).toEqual([]);
  for (const part of PARTS) {
    const without = withPart(partsOf(undefined), part);
    expect([...partsOf(without)]).toEqual(PARTS.filter((one) => one !== part));
    expect(withPart(partsOf(without), part)).toBeUndefined();
    expect(withPart(new Set([part]), part)).toBe("none");
  }
  expect(["cluster>namespace", "none", "toString", undefined].map(boxesOf)).toEqual(["cluster>namespace", "none", "cluster", "cluster"]);
  expect(GRAPH_KEYS).toEqual(["cluster", "ns", "name", "federated", "insight", "from", "to", "type", "policy"]);
});

it("puts nodes into boxes, and says beside them what the boxes do not", () => {
  const { nodes } = topologyOf(fleetOf());
  const shape = (boxes: Parameters<typeof boxTree>[1]) =>
    boxTree(nodes, boxes).map(({ name, boxes: inner, nodes: all }) => [name, all.length, inner.map((box) => [box.name, box.nodes.length])]);
  expect(shape("cluster")).toEqual([
    ["c1", 2, []],
    ["c2", 1, []],
  ]);
  expect(shape("cluster>namespace")).toEqual([
    [
      "c1",
      2,
      [
        ["kube-system", 1],
        ["shop", 1],
      ],
    ],
    ["c2", 1, [["shop", 1]]],
  ]);
  expect(shape("namespace")).toEqual([
    ["kube-system", 1, []],
    ["shop", 2, []],
  ]);
  expect(shape("none")).toEqual([]);
  const place = { namespace: "shop", cluster: "c1" };
  expect((["cluster", "cluster>namespace", "namespace", "none"] as const).map((boxes) => placeText(place, boxes))).toEqual([
    "shop",
    "",
    "c1",
    "shop · c1",
  ]);
});
