import type { Workload } from "@isthmus/api";
import { describe, expect, it } from "vitest";
import { atMostEndpoints, gatewayEndpoints, localEndpoints, resolutionOf } from "./endpoints.ts";

const reviews: Workload = {
  apiVersion: "discovery.mesh.gloo.solo.io/v1",
  kind: "Workload",
  metadata: { name: "reviews", namespace: "gloo-mesh" },
  spec: { kubernetes: { podLabels: { app: "reviews", version: "v1" } } },
};
const kubeService = {
  endpointSubsets: [
    {
      endpoints: [
        { ipAddress: "10.0.0.1", labels: { app: "reviews", version: "v1" } },
        { ipAddress: "10.0.0.2", labels: { app: "reviews", version: "v2" } },
      ],
      ports: [
        { name: "http", port: 9080, protocol: "TCP" },
        { name: "other", port: 1, protocol: "TCP" },
      ],
    },
  ],
};
const source = { kubeService, ports: [{ name: "http", number: 80, protocol: "HTTP" }], workloads: [reviews] };

describe("endpoints", () => {
  it("keep each gateway's own port, in the order gateway, address, pod", () => {
    const endpoints = gatewayEndpoints(source, [
      { externalAddresses: ["a.example.com", "1.2.3.4"], destinationPort: 8181 },
      { externalAddresses: ["5.6.7.8"], destinationPort: 15443 },
    ]);
    expect(endpoints.map(({ address, ports, labels }) => [address, ports?.["http"], labels?.["version"]])).toEqual([
      ["a.example.com", 8181, "v1"],
      ["a.example.com", 8181, "v2"],
      ["1.2.3.4", 8181, "v1"],
      ["1.2.3.4", 8181, "v2"],
      ["5.6.7.8", 15443, "v1"],
      ["5.6.7.8", 15443, "v2"],
    ]);
  });

  it("say that they speak mutual TLS exactly where a workload with a sidecar stands behind them", () => {
    for (const endpoints of [localEndpoints(source), gatewayEndpoints(source, [{ externalAddresses: ["1.2.3.4"], destinationPort: 1 }])]) {
      expect(endpoints.map(({ labels }) => labels?.["security.istio.io/tlsMode"])).toEqual(["istio", undefined]);
    }
  });

  it("say of a pod that has no sidecar itself that it does not, whatever the others of its workload have", () => {
    const [subset] = kubeService.endpointSubsets;
    const endpoints = [
      ...(subset?.endpoints ?? []),
      { ipAddress: "10.0.0.3", labels: { app: "reviews", version: "v1" }, outsideMesh: true },
    ];
    const partly = { ...source, kubeService: { endpointSubsets: [{ ...subset, endpoints }] } };
    for (const found of [localEndpoints(partly), gatewayEndpoints(partly, [{ externalAddresses: ["1.2.3.4"], destinationPort: 1 }])]) {
      expect(found.map(({ labels }) => labels?.["security.istio.io/tlsMode"])).toEqual(["istio", undefined, undefined]);
    }
  });

  it("are counted where they have the same labels behind one address, whichever objects these are", () => {
    const endpoints = Array.from({ length: 2000 }, (_, i) => ({
      ipAddress: `10.0.${i >> 8}.${i & 255}`,
      labels: i % 4 === 0 ? { version: "v2", app: "reviews" } : { app: "reviews", version: "v1" },
    }));
    const large = { ...source, kubeService: { endpointSubsets: [{ endpoints }] } };
    const found = gatewayEndpoints(large, [{ externalAddresses: ["1.2.3.4", "1.2.3.5"], destinationPort: 1 }]);
    expect(found.map(({ address, labels, weight }) => [address, labels?.["version"], weight])).toEqual([
      ["1.2.3.4", "v2", 500],
      ["1.2.3.4", "v1", 1500],
      ["1.2.3.5", "v2", 500],
      ["1.2.3.5", "v1", 1500],
    ]);
  });

  it.each([4096, 4097, 5000, 100_000])("of %i a ServiceEntry has at most 4096, of which each part keeps its share", (total) => {
    const all = Array.from({ length: total }, (_, i) => ({ address: `pod-${i}`, labels: { half: i < total / 2 ? "first" : "second" } }));
    const some = atMostEndpoints(all);
    expect(some.length).toBe(4096);
    expect(new Set(some).size).toBe(4096);
    const first = some.filter(({ labels }) => labels.half === "first").length;
    expect(Math.abs(first - 2048)).toBeLessThanOrEqual(1);
  });

  it("have only ports that the ServiceEntry defines", () => {
    expect(localEndpoints(source).map(({ ports }) => ports)).toEqual([{ http: 9080 }, { http: 9080 }]);
  });

  it.each([
    [["10.0.0.1"], "STATIC"],
    [["10.0.0.1", "fd00::1"], "STATIC"],
    [["::FFFF:C0A8:1"], "STATIC"],
    [["10.0.0.1", "a.example.com"], "DNS"],
    [["fd00::1", "a.example.com"], undefined],
    [["256.0.0.1"], "DNS"],
    [[], "STATIC"],
  ])("at %o are found by %s", (addresses, resolution) => {
    expect(resolutionOf(addresses)).toBe(resolution);
  });
});
