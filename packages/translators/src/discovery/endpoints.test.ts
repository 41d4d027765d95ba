import type { EndpointSlice, Service } from "@isthmus/api";
import { expect, test } from "vitest";
import { addressGroups, nodeNamesOf } from "./endpoints.ts";

const service: Service = { apiVersion: "v1", kind: "Service", metadata: { name: "web", namespace: "shop", clusterName: "east" } };

function slice(name: string, endpoints: EndpointSlice["endpoints"], rest: Partial<EndpointSlice> = {}): EndpointSlice {
  const metadata = { name, namespace: "shop", clusterName: "east" };
  const ports = [{ name: "http", port: 8080, protocol: "TCP" }];
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata,
    addressType: "IPv4",
    ports,
    ...rest,
    ...(endpoints && { endpoints }),
  };
}

const at = (ip: string, nodeName: string) => ({
  addresses: [ip],
  nodeName,
  targetRef: { kind: "Pod", name: `web-${nodeName}`, namespace: "shop" },
});

test("slices with equal ports are one group, each address once and in order: as the last slice has it", () => {
  const slices = [
    slice("a", [at("10.0.0.2", "n1"), at("10.0.0.1", "n1")]),
    // Equal ports in a list of their own.
    slice("b", [at("10.0.0.1", "n2")], { ports: [{ name: "http", port: 8080, protocol: "TCP" }] }),
    slice("c", [at("10.0.0.3", "n3")], { ports: [{ name: "admin", port: 9000 }] }),
    slice("d", [{ ...at("10.0.0.4", "n4"), conditions: { ready: false } }]),
  ];
  const groups = addressGroups(service, slices, undefined);
  expect(groups.map(({ ports, addresses }) => [ports[0]?.name, addresses.map(({ ip, nodeName }) => `${ip} on ${nodeName}`)])).toEqual([
    ["admin", ["10.0.0.3 on n3"]],
    ["http", ["10.0.0.1 on n2", "10.0.0.2 on n1"]],
  ]);
  expect(nodeNamesOf(groups)).toEqual(["n1", "n2", "n3"]);
});

test("of a Service with addresses of two families, those of its own count", () => {
  const slices = [slice("a", [at("10.0.0.1", "n1")]), slice("b", [at("fd00::1", "n1")], { addressType: "IPv6" })];
  const ips = (of: Service) => addressGroups(of, slices, undefined).flatMap(({ addresses }) => addresses.map(({ ip }) => ip));
  expect(ips(service)).toEqual(["10.0.0.1"]);
  expect(ips({ ...service, spec: { ipFamilies: ["IPv6", "IPv4"] } })).toEqual(["fd00::1"]);
});
