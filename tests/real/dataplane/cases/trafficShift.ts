import { itAtNight } from "@isthmus/testing/atNight";
import { describe, it } from "vitest";
import { expectAll, expectShare, sharePercent } from "../harness/expectations.ts";
import type { Meshes } from "../harness/meshes.ts";
import { service, services, trafficPolicy } from "../harness/resources.ts";

const localHost = "reviews.bookinfo.svc.cluster.local";
const ofTwo = "reviews.bookinfo.svc.cluster-2.global";
const reviews = { name: "reviews", namespace: "bookinfo" } as const;
const count = 1_000;

export function trafficShiftCases(meshes: () => Meshes): void {
  describe("a traffic shift", () => {
    it("divides traffic between the local and the remote service", async () => {
      const destinations = [
        { kubeService: { ...reviews, clusterName: "cluster-1" }, weight: 75 },
        { kubeService: { ...reviews, clusterName: "cluster-2" }, weight: 25 },
      ];
      await meshes().apply({
        policies: [trafficPolicy({ trafficShift: { destinations } }, { destinationSelector: [service("reviews", "cluster-1")] })],
      });
      const answers = await meshes().request({ host: localHost, count, concurrency: 4 });
      expectAll(answers, 200);
      expectShare(sharePercent(answers, "cluster-2"), 25, count);
    });

    it("divides connections over TCP, which have no requests", async () => {
      const at = (name: string, weight: number) => ({
        kubeService: { name, namespace: "bookinfo", clusterName: "cluster-2", port: 8082 },
        weight,
      });
      const trafficShift = { destinations: [at("library", 40), at("shelf", 60)] };
      await meshes().apply({ policies: [trafficPolicy({ trafficShift }, { destinationSelector: [service("library", "cluster-2")] })] });
      for (const from of ["cluster-1", "cluster-2"] as const) {
        const host = `library.bookinfo.svc.${from === "cluster-2" ? "cluster.local" : "cluster-2.global"}`;
        const answers = await meshes().request({ from, host, port: 8082, count: 200, concurrency: 1 });
        expectAll(answers, 200);
        expectShare(sharePercent(answers, "cluster-2/productpage-v1"), 60, 200);
      }
    });

    it("goes to subsets, local and remote", async () => {
      const destinations = [
        { kubeService: { ...reviews, clusterName: "cluster-1", subset: { version: "v1" } }, weight: 50 },
        { kubeService: { ...reviews, clusterName: "cluster-2", subset: { version: "v1" } }, weight: 30 },
        { kubeService: { ...reviews, clusterName: "cluster-2", subset: { version: "v2" } }, weight: 20 },
      ];
      await meshes().apply({ policies: [trafficPolicy({ trafficShift: { destinations } }, { destinationSelector: services("reviews") })] });
      for (const [from, host] of [
        ["cluster-1", localHost],
        ["cluster-1", ofTwo],
        ["cluster-2", localHost],
      ] as const) {
        const answers = await meshes().request({ from, host, count, concurrency: 4 });
        expectAll(answers, 200);
        expectShare(sharePercent(answers, "cluster-1/reviews-v1"), 50, count);
        expectShare(sharePercent(answers, "cluster-2/reviews-v1"), 30, count);
        expectShare(sharePercent(answers, "cluster-2/reviews-v2"), 20, count);
      }
    });

    itAtNight("sends everything to one subset of the service itself", async () => {
      const destinations = [{ kubeService: { ...reviews, clusterName: "cluster-2", subset: { version: "v2" } }, weight: 100 }];
      await meshes().apply({
        policies: [trafficPolicy({ trafficShift: { destinations } }, { destinationSelector: [service("reviews", "cluster-2")] })],
      });
      expectAll(await meshes().request({ host: ofTwo }), 200, "cluster-2/reviews-v2");
      expectAll(await meshes().request({ from: "cluster-2", host: localHost }), 200, "cluster-2/reviews-v2");
    });

    itAtNight("finds the one port of another service, whatever its number", async () => {
      const destinations = [{ kubeService: { name: "productpage", namespace: "bookinfo", clusterName: "cluster-2" }, weight: 100 }];
      const fromLibrary = [service("library", "cluster-2")];
      await meshes().apply({ policies: [trafficPolicy({ trafficShift: { destinations } }, { destinationSelector: fromLibrary })] });
      const library = { host: "library.bookinfo.svc.cluster.local", port: 8080 };
      expectAll(await meshes().request({ from: "cluster-2", ...library }), 200, "cluster-2/productpage-v1");
      const federated = { host: "library.bookinfo.svc.cluster-2.global", port: 8081 };
      expectAll(await meshes().request(federated), 200, "cluster-2/productpage-v1");
    });

    it("goes to the named port of a service with several", async () => {
      const destinations = [{ kubeService: { name: "library", namespace: "bookinfo", clusterName: "cluster-2", port: 8081 }, weight: 100 }];
      await meshes().apply({
        policies: [trafficPolicy({ trafficShift: { destinations } }, { destinationSelector: [service("reviews", "cluster-1")] })],
      });
      expectAll(await meshes().request({ host: localHost }), 200, "cluster-2");
    });
  });
}
