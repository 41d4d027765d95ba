import type { Workload } from "@isthmus/api";
import { describe, expect, it } from "vitest";
import { gatewayEndpoints, localEndpoints, resolutionOf } from "./endpoints.ts";

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
