import { Destination, Mesh, Settings, VirtualMesh } from "@isthmus/api";
import { type Resource, type Snapshot, snapshotOf } from "@isthmus/core";
import { soundTranslation } from "@isthmus/testing";
import { expect, test } from "vitest";
import type { Translation } from "../src/index.ts";

const PLANE = "gloo-mesh";
const OPTIONS = { namespace: PLANE, stage: "networking" } as const;

function object(kind: { readonly apiVersion: string; readonly kind: string }, name: string, spec: object): Resource {
  return { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name, namespace: PLANE }, spec } as Resource;
}

function service(name: string, clusterName: string, more: object = {}): Resource {
  const kubeService = { ref: { name, namespace: "shop", clusterName }, ports: [{ port: 80, name: "http", protocol: "TCP" }], ...more };
  return object(Destination, `${name}-shop-${clusterName}`, { kubeService, mesh: { name: `istiod-${clusterName}`, namespace: PLANE } });
}

function gateway(clusterName: string): Resource {
  return service("istio-ingressgateway", clusterName, {
    workloadSelectorLabels: { istio: "ingressgateway" },
    ports: [{ port: 15443, name: "tls", protocol: "TCP", targetPortNumber: 15443 }],
    serviceType: "LOAD_BALANCER",
    externalAddresses: [{ ip: "198.51.100.1" }],
  });
}

/** So many services in cluster a, and a mesh in each of three clusters that may call them. */
function fleet(services: number): readonly Resource[] {
  const meshes = ["a", "b", "c"].map((cluster) =>
    object(Mesh, `istiod-${cluster}`, { istio: { installation: { namespace: "istio-system", cluster }, trustDomain: cluster } }),
  );
  const refs = meshes.map(({ metadata: { name } }) => ({ name, namespace: PLANE }));
  const selectors = [{ destinationSelectors: [{ kubeServiceMatcher: { clusters: ["a"] } }] }];
  return [
    ...meshes,
    object(VirtualMesh, "vm", { meshes: refs, federation: { selectors } }),
    gateway("a"),
    ...Array.from({ length: services - 1 }, (_, i) => service(`s${i}`, "a")),
  ];
}

function settings(maxObjectsPerCluster: number): Resource {
  return object(Settings, "settings", { federation: { maxObjectsPerCluster } });
}

function said({ reports }: Translation): readonly string[] {
  return reports.filter(({ subject, target }) => subject.kind === VirtualMesh.kind && target === undefined).map(({ message }) => message);
}

function writtenInto(world: Translation, clusterName: string): number {
  return world.networking.inCluster(clusterName).size;
}

function next(given: Snapshot, put: readonly Resource[], before: Translation): { readonly given: Snapshot; readonly world: Translation } {
  const snapshot = given.apply({ put, remove: [] });
  const world = soundTranslation(snapshot, OPTIONS, before);
  const scratch = soundTranslation(snapshot, OPTIONS);
  expect([...world.networking]).toEqual([...scratch.networking]);
  expect(said(world)).toEqual(said(scratch));
  return { given: snapshot, world };
}

test("a federation that writes more than 2,000 objects into one cluster says so, with the number that it is", () => {
  const given = snapshotOf(fleet(1000));
  const before = soundTranslation(given, OPTIONS);
  expect(said(before)).toEqual([]);
  expect(writtenInto(before, "b")).toBe(2000);
  const { world } = next(given, [service("one-more", "a")], before);
  expect(writtenInto(world, "b")).toBe(2002);
  expect(said(world)).toEqual([
    expect.stringMatching(/^spec.federation: federation writes 2002 objects into b, 2002 objects into c; more than 2000 /),
  ]);
});

test("above the limit of the Settings nothing is federated, and below it all is", () => {
  let now = next(snapshotOf([]), [...fleet(4), settings(8)], soundTranslation(snapshotOf([]), OPTIONS));
  expect(writtenInto(now.world, "b")).toBe(8);
  now = next(now.given, [service("one-more", "a")], now.world);
  expect(writtenInto(now.world, "b")).toBe(0);
  expect(said(now.world)).toEqual([expect.stringMatching(/^spec.federation: nothing is federated, .*10 objects into b, .*more than 8,/)]);
  now = next(now.given, [settings(10)], now.world);
  expect(writtenInto(now.world, "b")).toBe(10);
  expect(said(now.world)).toEqual([]);
});

test("a service with a port of plain TCP counts in its own cluster with the ServiceEntry that failover adds there", () => {
  const { spec } = fleet(1).find((one): one is VirtualMesh => one.kind === VirtualMesh.kind) ?? {};
  const vm = (more: object) =>
    object(VirtualMesh, "vm", { ...spec, mtlsConfig: { shared: {} }, federation: { ...spec?.federation, ...more } });
  const database = (name: string, port: string) => service(name, "a", { ports: [{ port: 3306, name: port, protocol: "TCP" }] });
  const added = (world: Translation) =>
    [...world.networking.inCluster("a")].filter(({ resource }) => resource.metadata.name.endsWith("-failover")).length;
  // With the gateway four services: eight objects into each of b and c.
  const objects = [...fleet(2), database("db-1", "mysql"), database("db-2", "tcp"), vm({ failover: {} })];
  let now = next(snapshotOf([]), [...objects, settings(8)], soundTranslation(snapshotOf([]), OPTIONS));
  expect(added(now.world)).toBe(2);
  expect(said(now.world)).toEqual([]);
  now = next(now.given, [settings(1)], now.world);
  expect(added(now.world)).toBe(0);
  expect(said(now.world)).toEqual([
    expect.stringMatching(/would write 8 objects into b, 8 objects into c, 2 objects into a, more than 1,/),
  ]);
  // One host may stand beside the other in one object where all ports are of HTTP; and without failover there is only one.
  now = next(now.given, [database("db-2", "http")], now.world);
  expect(said(now.world)).toEqual([expect.stringMatching(/would write 8 objects into b, 8 objects into c, more than 1,/)]);
  now = next(now.given, [settings(0)], now.world);
  expect(said(now.world)).toEqual([expect.stringMatching(/8 objects into c, 1 object into a, more than 0,/)]);
  now = next(now.given, [vm({})], now.world);
  expect(said(now.world)).toEqual([expect.stringMatching(/would write 8 objects into b, 8 objects into c, more than 0,/)]);
});
