import { Destination, Mesh, ServiceEntry, VirtualMesh } from "@isthmus/api";
import { type Resource, snapshotOf } from "@isthmus/core";
import { runs, soundTranslation } from "@isthmus/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Translation } from "../src/index.ts";

// Small worlds in which anything about ports, endpoints and gateways may be odd.
const CLUSTERS = ["a", "b", "c"] as const;
// None at all is what Istio detects.
const PROTOCOLS = new Set(["", "TCP", "HTTP", "HTTP2", "HTTPS", "GRPC", "GRPC-Web", "TLS", "Mongo", "MySQL", "Redis", "HTTP_PROXY"]);

const address = fc.constantFrom("10.0.0.1", "10.0.0.2", "fd00::1", "gw.example.com", "");
const portName = fc.constantFrom("http", "grpc-x", "tls", "thrift", "odd", undefined);
const port = fc.record({
  port: fc.integer({ min: 1, max: 4 }),
  name: portName,
  protocol: fc.constantFrom("TCP", "UDP", "SCTP"),
  appProtocol: fc.constantFrom("http", "grpc-web", "unknown/x", undefined),
});
const subset = fc.record({
  endpoints: fc.array(fc.record({ ipAddress: address, labels: fc.constantFrom({}, { app: "x" }) }), { maxLength: 3 }),
  ports: fc.array(fc.record({ port: fc.integer({ min: 1, max: 4 }), name: portName, protocol: fc.constant("TCP") }), { maxLength: 3 }),
});
const service = fc.record({
  name: fc.constantFrom("ab", "abc", "x"),
  namespace: fc.constantFrom("cd", "d", "y"),
  cluster: fc.constantFrom(...CLUSTERS),
  ports: fc.array(port, { maxLength: 3 }),
  endpointSubsets: fc.array(subset, { maxLength: 2 }),
});
const gateway = fc.record({
  cluster: fc.constantFrom(...CLUSTERS),
  serviceType: fc.constantFrom("LOAD_BALANCER" as const, "NODE_PORT" as const, "CLUSTER_IP" as const),
  nodePort: fc.constantFrom(undefined, 32000),
  addresses: fc.array(address, { maxLength: 2 }),
});
const world = fc.record({
  services: fc.uniqueArray(service, { selector: ({ name, namespace, cluster }) => `${name}.${namespace}.${cluster}`, maxLength: 6 }),
  gateways: fc.uniqueArray(gateway, { selector: ({ cluster }) => cluster, maxLength: 3 }),
  suffix: fc.constantFrom(undefined, "global", "corp"),
});
type Drawn = typeof world extends fc.Arbitrary<infer T> ? T : never;

function objectsOf({ services, gateways, suffix }: Drawn): readonly Resource[] {
  const meta = (name: string) => ({ name, namespace: "gloo-mesh" });
  const destination = (name: string, cluster: string, kubeService: object) => ({
    apiVersion: Destination.apiVersion,
    kind: Destination.kind,
    metadata: meta(name),
    spec: { kubeService, mesh: meta(`istiod-${cluster}`) },
  });
  return [
    ...CLUSTERS.map((cluster) => ({
      apiVersion: Mesh.apiVersion,
      kind: Mesh.kind,
      metadata: meta(`istiod-${cluster}`),
      spec: { istio: { installation: { namespace: "istio-system", cluster }, smartDnsProxyingEnabled: cluster !== "c" } },
    })),
    ...services.map(({ name, namespace, cluster, ...rest }) =>
      destination(`${name}-${namespace}-${cluster}`, cluster, { ref: { name, namespace, clusterName: cluster }, ...rest }),
    ),
    ...gateways.map(({ cluster, serviceType, nodePort, addresses }) =>
      destination(`gw-istio-system-${cluster}`, cluster, {
        ref: { name: "gw", namespace: "istio-system", clusterName: cluster },
        workloadSelectorLabels: { istio: "ingressgateway" },
        serviceType,
        ports: [{ name: "tls", port: 443, protocol: "TCP", targetPortNumber: 8443, nodePort }],
        externalAddresses: addresses.map((ip) => ({ ip })),
      }),
    ),
    {
      apiVersion: VirtualMesh.apiVersion,
      kind: VirtualMesh.kind,
      metadata: meta("vm"),
      spec: { meshes: CLUSTERS.map((cluster) => meta(`istiod-${cluster}`)), federation: { selectors: [{}], hostnameSuffix: suffix } },
    },
  ].map((object) => JSON.parse(JSON.stringify(object)) as Resource);
}

function translated(drawn: Drawn): Translation {
  return soundTranslation(snapshotOf(objectsOf(drawn)), { namespace: "gloo-mesh", stage: "networking" });
}

function serviceEntriesOf({ networking }: Translation): readonly ServiceEntry[] {
  return [...networking].flatMap(({ resource }) => (resource.kind === ServiceEntry.kind ? [ServiceEntry.parse(resource)] : []));
}

it("gives ServiceEntries that Istio accepts, whatever services and gateways are like", () => {
  fc.assert(
    fc.property(world, (drawn) => {
      for (const { spec = {} } of serviceEntriesOf(translated(drawn))) {
        const names = (spec.ports ?? []).map(({ name }) => name ?? "");
        expect(names).not.toEqual([]);
        expect(new Set(names).size).toBe(names.length);
        expect(new Set((spec.ports ?? []).map(({ number }) => number)).size).toBe(names.length);
        for (const { protocol = "" } of spec.ports ?? []) expect(PROTOCOLS).toContain(protocol);
        expect(["STATIC", "DNS"]).toContain(spec.resolution);
        for (const endpoint of spec.endpoints ?? []) {
          expect(names).toEqual(expect.arrayContaining(Object.keys(endpoint.ports ?? {})));
          expect(endpoint.address).not.toBe("");
          if (spec.resolution === "STATIC") expect(endpoint.address).not.toBe("gw.example.com");
        }
      }
    }),
    { numRuns: runs(100) },
  );
});

it("never gives two hosts one address", () => {
  fc.assert(
    fc.property(world, (drawn) => {
      const hostOf = new Map<string, string>();
      for (const { spec = {} } of serviceEntriesOf(translated(drawn))) {
        for (const address of spec.addresses ?? []) expect(hostOf.get(address) ?? spec.hosts?.[0]).toBe(spec.hosts?.[0]);
        for (const address of spec.addresses ?? []) hostOf.set(address, spec.hosts?.[0] ?? "");
      }
    }),
    { numRuns: runs(100) },
  );
});

it("writes nothing about the host of a service that it says cannot be federated", () => {
  fc.assert(
    fc.property(world, (drawn) => {
      const result = translated(drawn);
      const ofDestinations = result.reports.filter(({ target }) => target?.kind === Destination.kind);
      const hosts = serviceEntriesOf(result).map(({ spec }) => spec?.hosts?.[0] ?? "");
      for (const { name, namespace, cluster, ports } of drawn.services) {
        const own = ofDestinations.filter(({ target }) => target?.name === `${name}-${namespace}-${cluster}`);
        const portless = own.filter(({ code }) => code === "PortNotFederated").length === ports.length;
        const isRefused = own.some(({ state, code }) => state === "INVALID" || code === "NoPortToFederate") || (portless && own.length > 0);
        const mentioned = hosts.some((host) => host.startsWith(`${name}.${namespace}.svc.${cluster}.`));
        expect(mentioned).toBe(!isRefused);
      }
    }),
    { numRuns: runs(100) },
  );
});
