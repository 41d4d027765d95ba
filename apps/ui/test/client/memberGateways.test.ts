import type { ConsoleActivity, ConsoleInsight } from "@isthmus/console/wire";
import { edgeRow, noSignals, type Resource, refOf, resourceKeyOf, SIGNAL_AT, snapshotOf } from "@isthmus/core";
import { expect, it } from "vitest";
import { emptyFleet, type Fleet } from "../../client/data/fleet.ts";
import type { VirtualMesh } from "../../client/data/kinds.ts";
import { meshGateways } from "../../client/model/memberGateways.ts";

const AT = "2026-01-01T12:00:00.000Z";
const now = Date.parse(AT);
const DISCOVERY = "discovery.mesh.gloo.solo.io/v1";
const place = (name: string, clusterName: string) => ({ name, namespace: "istio-system", clusterName });
const labels = { istio: "gateway" };

const member = (cluster: string, addresses: readonly string[]): readonly Resource[] =>
  [
    {
      apiVersion: DISCOVERY,
      kind: "Mesh",
      metadata: { name: `istiod-${cluster}`, namespace: "gloo-mesh" },
      status: {
        appliedEastWestIngressGateways: [
          { destinationRef: { name: `gateway-${cluster}`, namespace: "gloo-mesh" }, externalAddresses: addresses, destinationPort: 15443 },
        ],
      },
    },
    {
      apiVersion: DISCOVERY,
      kind: "Destination",
      metadata: { name: `gateway-${cluster}`, namespace: "gloo-mesh" },
      spec: { kubeService: { ref: place("gateway", cluster), workloadSelectorLabels: labels } },
    },
    {
      apiVersion: DISCOVERY,
      kind: "Workload",
      metadata: { name: `gateway-${cluster}-deployment`, namespace: "gloo-mesh" },
      spec: { kubernetes: { controller: place("gateway", cluster), podLabels: labels } },
    },
  ] as unknown as Resource[];
const virtualMesh: VirtualMesh = {
  apiVersion: "networking.mesh.gloo.solo.io/v1",
  kind: "VirtualMesh",
  metadata: { name: "vm", namespace: "gloo-mesh" },
  status: { meshes: { "istiod-c1.gloo-mesh.": { state: "ACCEPTED" }, "istiod-c2.gloo-mesh.": { state: "ACCEPTED" } } },
};

/** Connections from the gateway: bytes, in five minutes and in an hour. */
function activity(cluster: string, [five, hour]: readonly [number, number], at = AT): ConsoleActivity {
  const numbers = [five, hour].flatMap((bytes) => {
    const signals = noSignals();
    signals[SIGNAL_AT.responseBytes] = bytes;
    return [...signals];
  });
  const names = {
    sourceNamespace: "istio-system",
    sourceWorkload: "gateway",
    namespace: "shop",
    service: "cart",
    workload: "",
    cluster: "",
  };
  const windows = [
    { minutes: 5, seconds: 300 },
    { minutes: 60, seconds: 3_600 },
  ];
  return { cluster, at, sync: [], syncBounds: [], traffic: { windows, targets: 1, scraped: 1, edges: [edgeRow(names, numbers)], left: 0 } };
}

function fleetOf(known: readonly ConsoleActivity[], insights: readonly ConsoleInsight[] = []): Fleet {
  const fleet = emptyFleet();
  return {
    ...fleet,
    snapshot: snapshotOf([...member("c1", ["198.51.100.1", "2001:db8::1"]), ...member("c2", []), virtualMesh]),
    insights: fleet.insights.with([[resourceKeyOf(refOf(virtualMesh)), { object: refOf(virtualMesh), insights }]]),
    activity: new Map(known.map((one) => [one.cluster, one])),
    isReady: true,
  };
}

const traffic = (known: readonly ConsoleActivity[], at = now) =>
  meshGateways(fleetOf(known), virtualMesh, at).map(({ gateways: [gateway] }) => gateway?.traffic);

it("has the addresses of each member's gateway, and what is wrong with it", () => {
  const about = (code: string, name: string) =>
    ({
      code,
      message: `${code} of ${name}`,
      targets: [{ apiVersion: DISCOVERY, kind: "Mesh", name, namespace: "gloo-mesh", clusterName: "" }],
    }) as unknown as ConsoleInsight;
  const insights = [about("FED1004", "istiod-c2"), about("FED1014", "istiod-c1"), about("FED1003", "istiod-c3")];
  const all = meshGateways(fleetOf([], insights), virtualMesh, now);
  expect(
    all.map(({ mesh, gateways, problems }) => [mesh.metadata.name, gateways.map((one) => one.addresses), problems.map(({ code }) => code)]),
  ).toEqual([
    ["istiod-c1", [["198.51.100.1:15443", "[2001:db8::1]:15443"]], []],
    ["istiod-c2", [[]], ["FED1004"]],
  ]);
});

it("says that traffic went through a gateway only where proxies have counted it within the last hour", () => {
  expect(traffic([])).toEqual([undefined, undefined]);
  expect(traffic([activity("c1", [5, 9])])).toEqual([{ minutes: 5, at: AT }, undefined]);
  expect(traffic([activity("c1", [0, 9]), activity("c2", [0, 0])])).toEqual([{ minutes: 60, at: AT }, undefined]);
  // What was known an hour ago says nothing of now.
  expect(traffic([activity("c1", [5, 9])], now + 3_600_000)).toEqual([undefined, undefined]);
});
