import { DaemonSet, Gateway, ServiceEntry, StatefulSet, Workload } from "@isthmus/api";
import type { AnyResource, Kind } from "@isthmus/core";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bookinfoMesh, demoFleet, type Fleet, ours, register } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

let fleet: Fleet;
let first: SimulatedCluster;
beforeEach(async () => {
  fleet = demoFleet();
  first = fleet.clusters["cluster-1"] as SimulatedCluster;
  await register(fleet);
  fleet.startServer();
  for (const name of Object.keys(fleet.clusters)) fleet.startAgent(name);
});
afterEach(() => fleet.stop());

/** What the server holds of an object of cluster-1. */
function held({ kind, metadata: { name, namespace = "" } }: AnyResource, of: Kind): AnyResource | undefined {
  if (of.kind !== kind) throw new TypeError(`${kind} is not ${of.kind}`);
  return fleet.server().store.snapshotIn("cluster-1").of(of).get({ name, namespace, clusterName: "cluster-1" }) as AnyResource | undefined;
}

/** A controller of pods with a sidecar. */
function controller({ apiVersion, kind }: Kind, image: string): AnyResource {
  const labels = { app: `of-${kind.toLowerCase()}` };
  const containers = [
    { name: "app", image },
    { name: "istio-proxy", image: "docker.io/istio/proxyv2:1.31.0" },
  ];
  const template = { metadata: { labels }, spec: { serviceAccountName: "default", containers } };
  return {
    apiVersion,
    kind,
    metadata: { name: labels.app, namespace: "bookinfo" },
    spec: { selector: { matchLabels: labels }, template },
    status: { observedGeneration: 1 },
  };
}

describe.each([DaemonSet, StatefulSet] as readonly Kind[])("$kind of a workload cluster", (kind) => {
  it("arrives at the server without its status, follows changes, makes a Workload, and goes", async () => {
    const created = await first.create(controller(kind, "example.com/app:1"));
    const imageOf = () => JSON.stringify(held(created, kind)?.["spec"]);
    await eventually(() => expect(imageOf()).toContain("example.com/app:1"));
    expect(held(created, kind)).not.toHaveProperty("status");
    await first.apply(controller(kind, "example.com/app:2"), { fieldManager: "person", force: true });
    await eventually(() => expect(imageOf()).toContain("example.com/app:2"));
    const workload = { name: `${created.metadata.name}-bookinfo-cluster-1-${kind.kind.toLowerCase()}`, namespace: "gloo-mesh" };
    await eventually(async () => expect(await fleet.management.get(Workload, workload)).toBeDefined());
    await first.delete({ ...kind, name: created.metadata.name, namespace: "bookinfo", clusterName: "cluster-1" });
    await eventually(async () => expect(await fleet.management.get(Workload, workload)).toBeUndefined());
    expect(held(created, kind)).toBeUndefined();
  });
});

const userObjects: readonly (readonly [Kind, object])[] = [
  [
    Gateway,
    { selector: { istio: "ingressgateway" }, servers: [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: ["shop.example"] }] },
  ],
  [ServiceEntry, { hosts: ["payments.example"], ports: [{ number: 443, name: "tls", protocol: "TLS" }], resolution: "DNS" }],
];

describe.each(userObjects)("a user's $kind in a workload cluster", (kind, spec) => {
  const users = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name: "own", namespace: "bookinfo" }, spec } as AnyResource;

  it("arrives at the server as it is, and goes", async () => {
    await first.create(users);
    await eventually(() => expect(held(users, kind)?.["spec"]).toEqual(spec));
    await first.delete({ ...kind, name: "own", namespace: "bookinfo", clusterName: "cluster-1" });
    await eventually(() => expect(held(users, kind)).toBeUndefined());
  });

  it("arrives alone: what we write of its kind is not reported", async () => {
    await first.create(users);
    await fleet.management.create(bookinfoMesh);
    await eventually(async () => expect(await ours(first, kind)).not.toEqual([]));
    await eventually(() => expect(held(users, kind)).toBeDefined());
    await quiet();
    const reported = [...fleet.server().store.snapshotIn("cluster-1").of(kind)];
    expect(reported.map(({ metadata }) => metadata.name)).toEqual(["own"]);
  });
});
