import { itAtNight } from "@isthmus/testing/atNight";
import { describe, expect, it } from "vitest";
import { expectAll, sharePercent } from "../harness/expectations.ts";
import type { Meshes } from "../harness/meshes.ts";
import { meshRef, service, settings, trafficPolicy, virtualMesh } from "../harness/resources.ts";

const ofOne = "reviews.bookinfo.svc.cluster-1.global";
const ofTwo = "reviews.bookinfo.svc.cluster-2.global";
const unresolved = { "DNS: no such host": 1 };

export function federationCases(meshes: () => Meshes): void {
  describe("federation", () => {
    it("lets each cluster call the services of the other over mutual TLS, under its own identity", async () => {
      await meshes().apply({});
      const there = await meshes().request({ host: ofTwo });
      expectAll(there, 200, "cluster-2");
      expect(there.last?.headers["x-forwarded-client-cert"]).toMatch(
        /By=spiffe:\/\/cluster-2\/ns\/bookinfo\/sa\/bookinfo-reviews.*URI=spiffe:\/\/cluster-1\/ns\/bookinfo\/sa\/bookinfo-productpage/,
      );
      expectAll(await meshes().request({ from: "cluster-2", host: ofOne }), 200, "cluster-1/reviews-v1");
      expectAll(await meshes().request({ host: "productpage.bookinfo.svc.cluster-2.global" }), 200, "cluster-2/productpage-v1");
    });

    it("keeps local traffic local", async () => {
      await meshes().apply({});
      expectAll(await meshes().request({ host: "reviews.bookinfo.svc.cluster.local" }), 200, "cluster-1/reviews-v1");
      expectAll(await meshes().request({ from: "cluster-2", host: "reviews.bookinfo" }), 200, "cluster-2");
    });

    it("reaches each port of a service whose ports are not those of its pods", async () => {
      await meshes().apply({});
      for (const port of [8080, 8081]) {
        expectAll(await meshes().request({ host: "library.bookinfo.svc.cluster-2.global", port }), 200, "cluster-2");
      }
    });

    it("takes ports for what Istio takes them for, so that policies are in force from every cluster", async () => {
      const policy = { faultInjection: { abort: { httpStatus: 418 } } };
      await meshes().apply({ policies: [trafficPolicy(policy, { destinationSelector: [service("library", "cluster-2")] })] });
      for (const caller of [{}, { from: "cluster-2" }] as const) {
        const host = `library.bookinfo.svc.${"from" in caller ? "cluster.local" : "cluster-2.global"}`;
        for (const port of [8080, 8083]) expectAll(await meshes().request({ ...caller, host, port }), 418);
        expectAll(await meshes().request({ ...caller, host, port: 8082 }), 200, "cluster-2");
      }
    });

    it("goes one way only where selectors select one cluster's services", async () => {
      const selectors = [{ destinationSelectors: [{ kubeServiceMatcher: { clusters: ["cluster-2"] } }] }];
      await meshes().apply({ virtualMesh: virtualMesh({ federation: { selectors } }) });
      expectAll(await meshes().request({ host: ofTwo }), 200, "cluster-2");
      expect((await meshes().request({ from: "cluster-2", host: ofOne, count: 1 })).errors).toEqual(unresolved);
    });

    itAtNight("covers no service but the selected ones, for no mesh but the named ones", async () => {
      const selectors = [{ destinationSelectors: [service("reviews", "cluster-2")], meshes: [meshRef("cluster-1")] }];
      await meshes().apply({ virtualMesh: virtualMesh({ federation: { selectors } }) });
      expectAll(await meshes().request({ host: ofTwo }), 200, "cluster-2");
      const other = await meshes().request({ host: "productpage.bookinfo.svc.cluster-2.global", count: 1 });
      expect(other.errors).toEqual(unresolved);
    });

    itAtNight("is everything to everywhere when permissive", async () => {
      await meshes().apply({ virtualMesh: virtualMesh({ federation: { permissive: {} } }) });
      expectAll(await meshes().request({ host: ofTwo }), 200, "cluster-2");
      expectAll(await meshes().request({ from: "cluster-2", host: ofOne }), 200, "cluster-1");
    });

    itAtNight("is absent without a VirtualMesh", async () => {
      await meshes().apply({ virtualMesh: null });
      expect((await meshes().request({ host: ofTwo, count: 1 })).errors).toEqual(unresolved);
      expectAll(await meshes().request({ host: "reviews.bookinfo.svc.cluster.local" }), 200, "cluster-1");
    });

    itAtNight("uses another host name suffix where it is configured", async () => {
      await meshes().apply({ virtualMesh: virtualMesh({ federation: { selectors: [{}], hostnameSuffix: "shop" } }) });
      expectAll(await meshes().request({ host: "reviews.bookinfo.svc.cluster-2.shop" }), 200, "cluster-2");
      expect((await meshes().request({ host: ofTwo, count: 1 })).errors).toEqual(unresolved);
    });

    it("goes through selected gateways, with keepalive", async () => {
      const gateway = { namespace: "istio-system", name: "istio-ingressgateway" };
      const eastWestIngressGatewaySelectors = [
        { destinationSelectors: [{ kubeServiceRefs: { services: [{ ...gateway, clusterName: "cluster-1" }] } }], portName: "tls" },
        { destinationSelectors: [{ kubeServiceMatcher: { labels: { istio: "ingressgateway" }, clusters: ["cluster-2"] } }] },
      ];
      const tcpKeepalive = { probes: 3, time: "20s", interval: "5s" };
      await meshes().apply({
        virtualMesh: virtualMesh({ federation: { selectors: [{}], eastWestIngressGatewaySelectors, tcpKeepalive } }),
      });
      const before = await gatewayBytes(meshes());
      const answers = await meshes().request({ host: ofTwo });
      expectAll(answers, 200, "cluster-2");
      expect(sharePercent(answers, "cluster-2")).toBe(100);
      expect(await gatewayBytes(meshes())).toBeGreaterThan(before + 20 * 200);
      expectAll(await meshes().request({ from: "cluster-2", host: ofOne }), 200, "cluster-1");
    });

    itAtNight("works with settings that say nothing of TLS", async () => {
      await meshes().apply({ settings: settings({}) });
      expectAll(await meshes().request({ host: ofTwo }), 200, "cluster-2");
    });
  });
}

function gatewayBytes(meshes: Meshes): Promise<number> {
  return meshes.counter(
    "cluster-2/istio-ingressgateway",
    "^cluster.outbound_.9080_._.reviews.bookinfo.svc.cluster-2.*upstream_cx_rx_bytes_total",
  );
}
