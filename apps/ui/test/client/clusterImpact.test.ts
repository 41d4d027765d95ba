import type { ConsoleCertificate } from "@isthmus/console/wire";
import { type Resource, snapshotOf } from "@isthmus/core";
import type { ReachableHost } from "@isthmus/translators";
import { expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import type { KubernetesCluster } from "../../client/data/kinds.ts";
import { affectedHosts, endingCertificates, isInDoubt, sendersTo } from "../../client/model/clusters/clusterImpact.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const service = (name: string, clusterName: string) => ({ name, namespace: "shop", clusterName });

function destination(name: string, policies: readonly object[]): Resource {
  return {
    apiVersion: "discovery.mesh.gloo.solo.io/v1",
    kind: "Destination",
    metadata: { name, namespace: "gloo-mesh" },
    spec: { kubeService: { ref: service(name, "c1") } },
    status: {
      appliedTrafficPolicies: policies.map((policy, i) => ({ ref: { name: `p${i}`, namespace: "shop" }, spec: { policy } })),
    },
  } as Resource;
}

const shift = (...weights: readonly (readonly [string, string, number])[]) => ({
  trafficShift: { destinations: weights.map(([name, cluster, weight]) => ({ kubeService: service(name, cluster), weight })) },
});

it("lists policies in force that shift or mirror there, and VirtualDestinations with a part there", () => {
  const snapshot = snapshotOf([
    destination("cart", [
      shift(["cart", "c1", 25], ["cart", "c2", 75]),
      { mirror: { kubeService: service("shadow", "c2"), percentage: 12.5 } },
    ]),
    destination("catalog", [shift(["cart", "c2", 1], ["cart", "c1", 0]), shift(["cart", "c3", 1])]),
    {
      apiVersion: "networking.enterprise.mesh.gloo.solo.io/v1beta1",
      kind: "VirtualDestination",
      metadata: { name: "cart", namespace: "shop" },
      spec: { hostname: "cart.global" },
      status: {
        selectedDestinations: [
          { destination: { kubeService: service("cart", "c1") } },
          { destination: { kubeService: service("cart", "c2") } },
        ],
      },
    } as Resource,
    // Statuses of others, of any form.
    { apiVersion: "discovery.mesh.gloo.solo.io/v1", kind: "Destination", metadata: { name: "odd", namespace: "gloo-mesh" } } as Resource,
  ]);
  const rows = sendersTo({ snapshot }, "c2").map(({ because, how, to, from }) => [because.kind, because.name, how, to, from]);
  expect(rows).toEqual([
    ["VirtualDestination", "cart", "one of its destinations", ["shop/cart"], ["cart.global"]],
    ["TrafficPolicy", "p0", "trafficShift, 100 %", ["shop/cart"], ["shop/catalog"]],
    ["TrafficPolicy", "p0", "trafficShift, 75 %", ["shop/cart"], ["shop/cart"]],
    ["TrafficPolicy", "p1", "mirror, 12.5 %", ["shop/shadow"], ["shop/cart"]],
  ]);
  expect(sendersTo({ snapshot }, "c4")).toEqual([]);
});

it("says of each host what is left without the cluster, those that have nothing first", () => {
  const tier = (counts: Readonly<Record<string, number>>) => new Map(Object.entries(counts));
  const host = (
    name: string,
    legs: readonly (readonly [number, ...Readonly<Record<string, number>>[]])[],
    caller = "c1",
  ): ReachableHost => ({
    kind: "Service",
    host: name,
    caller,
    legs: legs.map(([weight, ...tiers]) => ({ host: name, subset: "", weight, tiers: tiers.map(tier) })),
  });
  const hosts = [
    host("local-first", [[100, { c1: 2 }, { c2: 1 }]]),
    host("remote", [[100, { c2: 3 }]]),
    host("with-failover", [[100, { c2: 1 }, { c3: 1 }, { c1: 4 }]]),
    host("mixed", [[100, { c1: 1, c2: 3 }]]),
    host("shifted", [
      [30, { c2: 1 }],
      [70, { c1: 1 }],
    ]),
    host("unused", [[0, { c2: 1 }]]),
    host("empty", [[100]]),
    host("own", [[100, { c2: 1 }]], "c2"),
  ];
  expect(affectedHosts(hosts, "c2").map(({ host: name, share, left }) => [name, share, left])).toEqual([
    ["remote", 100, []],
    ["shifted", 30, []],
    ["mixed", 75, ["c1"]],
    ["with-failover", 100, ["c3", "c1"]],
  ]);
});

it("finds certificates that end within 30 days, of a store the client certificate alone", () => {
  const cluster = { metadata: { name: "c1", namespace: "gloo-mesh" }, status: { agent: { certificateNotAfter: "2026-01-30T00:00:00Z" } } };
  const of = (certificates: readonly ConsoleCertificate[], name = "c1") =>
    endingCertificates(
      { ...emptyFleet(), certificates },
      { ...cluster, metadata: { ...cluster.metadata, name } } as KubernetesCluster,
      NOW,
    ).map(({ kind, notAfter }) => [kind, notAfter]);
  expect(of([])).toEqual([["relay client certificate", "2026-01-30T00:00:00Z"]]);
  const known = ["2026-01-31T00:00:01Z", "2026-01-02T00:00:00Z", "2025-12-01T00:00:00Z", undefined, "no date"].map((notAfter, i) => ({
    cluster: "c1",
    kind: "root",
    name: `r${i}`,
    ...(notAfter === undefined ? {} : { notAfter }),
  }));
  expect(of(known)).toEqual([
    ["root", "2025-12-01T00:00:00Z"],
    ["root", "2026-01-02T00:00:00Z"],
  ]);
});

it("asks for it where a cluster does not answer, and nowhere else", () => {
  const fleetOf = (state: string, clock: object): Fleet => ({
    ...emptyFleet(),
    source: { kind: "store", name: "s", version: "1", namespace: "gloo-mesh" },
    snapshot: snapshotOf([
      {
        apiVersion: "multicluster.solo.io/v1alpha1",
        kind: "KubernetesCluster",
        metadata: { name: "c1", namespace: "gloo-mesh" },
        status: { state },
      } as Resource,
    ]),
    clock: { now: "2026-01-01T00:00:00Z", at: "2026-01-01T00:00:00Z", clusters: [{ name: "c1", at: "2026-01-01T00:00:00Z", ...clock }] },
  });
  expect(isInDoubt(fleetOf("CONNECTED", { phase: "synced", connected: true }), "c1")).toBe(false);
  expect(isInDoubt(fleetOf("CONNECTED", { phase: "stale", connected: false }), "c1")).toBe(true);
  for (const state of ["OFFLINE", "UNREACHABLE", "REVOKED"])
    expect(isInDoubt(fleetOf(state, { phase: "synced", connected: true }), "c1")).toBe(true);
});
