import type { TrafficPolicyRules } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { itAtNight } from "@isthmus/testing/atNight";
import { afterEach, describe, expect, it } from "vitest";
import { waitFor } from "../../harness/waitFor.ts";
import { expectShare, sharePercent } from "../harness/expectations.ts";
import type { InForce, Meshes } from "../harness/meshes.ts";
import { freshConnections, service as selected, trafficPolicy, virtualDestination } from "../harness/resources.ts";
import { type ClusterName, threeClusterNames } from "../harness/testbed.ts";
import { gateway, outlierDetection, probesOf, server } from "./failoverProbes.ts";

const host = "reviews.mesh.global";
const inTwoRegions = [{ kubeServiceMatcher: { labels: { app: "reviews" }, clusters: ["cluster-1", "cluster-2"] } }];
const everywhere = [{ kubeServiceMatcher: { labels: { app: "reviews" } } }];
const service = (clusterName: ClusterName) => ({ kubeService: { name: "reviews", namespace: "bookinfo", clusterName } });

export function failoverCases(meshes: () => Meshes): void {
  /** With a virtual destination, and with one request for each connection: connections that are kept show what was. */
  async function apply(spec: object, others: readonly AnyResource[] = []): Promise<InForce> {
    const own = Object.fromEntries(threeClusterNames.map((cluster) => [cluster, [freshConnections()]]));
    const inForce = await meshes().apply({ policies: [virtualDestination({ hostname: host, ...spec }), ...others], own });
    expect(inForce.status("reviews")).toMatchObject({ state: "ACCEPTED" });
    return inForce;
  }

  const { servers, answeredBy, atGateways, heal } = probesOf(meshes, host);
  afterEach(heal);

  describe("a localized virtual destination", () => {
    itAtNight("is answered by the client's own cluster", async () => {
      await apply({ localized: { destinationSelectors: everywhere, outlierDetection } });
      await answeredBy("cluster-1");
      await answeredBy("cluster-2", "cluster-2");
    });

    it.each([
      { failure: "answers 503", ill: { status: 503 }, well: {} },
      { failure: "stops listening", ill: { isStopped: true }, well: { isStopped: false } },
    ])("is answered by another cluster while the local server $failure, and by the local one again afterwards", async ({ ill, well }) => {
      await apply({
        localized: { destinationSelectors: everywhere, failoverDirectives: [to("us-east", "eu-central", "us-west")], outlierDetection },
      });
      await answeredBy("cluster-1");
      await meshes().setServer(server("cluster-1"), ill);
      await answeredBy("cluster-3");
      await meshes().setServer(server("cluster-1"), well);
      await answeredBy("cluster-1");
    });

    itAtNight("loses no more requests than the errors that it takes to eject the local server", async () => {
      // Out for as long as requests are counted, however slow the machine is.
      const detection = { ...outlierDetection, baseEjectionTime: "120s" };
      await apply({ localized: { destinationSelectors: inTwoRegions, outlierDetection: detection } });
      await answeredBy("cluster-1");
      await meshes().setServer(server("cluster-1"), { status: 503 });
      const { status, servers: counts } = await meshes().request({ host, count: 60 });
      expect(status[503] ?? 0).toBeLessThanOrEqual(outlierDetection.consecutiveErrors);
      expect(counts[server("cluster-2")]).toBe(status[200]);
      expect(status[200]).toBeGreaterThanOrEqual(60 - outlierDetection.consecutiveErrors);
    });

    itAtNight("fails over to the regions of a directive in their order, and passes over a gateway that is down", async () => {
      await apply({
        localized: { destinationSelectors: everywhere, failoverDirectives: [to("us-east", "us-west", "eu-central")], outlierDetection },
      });
      await meshes().setServer(server("cluster-1"), { status: 503 });
      await answeredBy("cluster-2");
      await meshes().refuseConnections(gateway("cluster-2"), true);
      try {
        await answeredBy("cluster-3");
      } finally {
        await meshes().refuseConnections(gateway("cluster-2"), false);
      }
      await answeredBy("cluster-2");
    });

    it("sends no request from gateway to gateway, also when every server fails", async () => {
      await apply({ localized: { destinationSelectors: everywhere, outlierDetection } });
      await answeredBy("cluster-1");
      // Gateways see failed connections, not statuses: only now would they have a reason to go elsewhere.
      for (const cluster of threeClusterNames) await meshes().refuseConnections(server(cluster), true);
      const before = await atGateways();
      const { status } = await meshes().request({ host, count: 60 });
      const connections = (await atGateways()) - before;
      for (const cluster of threeClusterNames) await meshes().refuseConnections(server(cluster), false);
      expect(status).toEqual({ 503: 60 });
      expect(connections).toBeGreaterThan(0);
      // A sidecar tries each request three times.
      expect(connections).toBeLessThanOrEqual(180);
    });
  });

  describe("a static virtual destination", () => {
    it("is answered by the first that works, in its order, from each cluster", async () => {
      await apply({
        static: { destinations: [service("cluster-2"), service("cluster-3"), service("cluster-1")] },
        localized: { outlierDetection },
      });
      await answeredBy("cluster-2", "cluster-1");
      await answeredBy("cluster-2", "cluster-2");
      await meshes().setServer(server("cluster-2"), { status: 503 });
      await answeredBy("cluster-3", "cluster-1");
      await answeredBy("cluster-3", "cluster-2");
      await meshes().setServer(server("cluster-3"), { status: 503 });
      await answeredBy("cluster-1", "cluster-1");
      await answeredBy("cluster-1", "cluster-2");
    });

    itAtNight("whose first cluster recovers is answered by it again, also from clusters that come later in the order", async () => {
      await apply({ static: { destinations: [service("cluster-2"), service("cluster-1")] }, localized: { outlierDetection } });
      await answeredBy("cluster-2", "cluster-1");
      await meshes().setServer(server("cluster-2"), { status: 503 });
      await answeredBy("cluster-1", "cluster-1");
      await meshes().setServer(server("cluster-2"), {});
      await answeredBy("cluster-2", "cluster-1");
      await answeredBy("cluster-2", "cluster-3");
    });
  });

  describe("a mirror to a virtual destination", () => {
    const productpage = "productpage.bookinfo.svc.cluster.local";
    const received = (cluster: ClusterName) => meshes().counter(server(cluster), "^http.inbound_0.0.0.0_9080.*downstream_rq_completed$");

    /** How many copies of 40 requests to productpage, which alone answers, a cluster has had at last. */
    async function copiesAt(cluster: ClusterName): Promise<number> {
      const before = await received(cluster);
      const { servers: counts } = await meshes().request({ host: productpage, count: 40 });
      expect(counts).toEqual({ "cluster-1/productpage-v1": 40 });
      return (await received(cluster)) - before;
    }

    it("goes where its requests would go, and fails over like them", async () => {
      const mirror = { virtualDestination: { name: "reviews", namespace: "gloo-mesh" } };
      const policy = trafficPolicy({ mirror }, { destinationSelector: [selected("productpage", "cluster-1")] });
      await apply({ localized: { destinationSelectors: inTwoRegions, outlierDetection } }, [policy]);
      await waitFor("copies in the caller's own cluster", async () => (await copiesAt("cluster-1")) >= 20);
      await meshes().setServer(server("cluster-1"), { status: 503 });
      await waitFor("copies in cluster-2", async () => (await copiesAt("cluster-2")) >= 20);
    });
  });

  describe("a traffic shift to a virtual destination", () => {
    const productpage = "productpage.bookinfo.svc.cluster.local";
    const answers = () => meshes().request({ host: productpage, count: 400, concurrency: 4 });

    /** Three quarters of the requests to productpage go to the virtual destination, the others to cluster-3. */
    async function shift(rules: TrafficPolicyRules = {}, detection = outlierDetection): Promise<void> {
      const virtual = { virtualDestination: { name: "reviews", namespace: "gloo-mesh" }, weight: 75 };
      const destinations = [virtual, { ...service("cluster-3"), weight: 25 }];
      const policy = trafficPolicy(
        { trafficShift: { destinations }, ...rules },
        { destinationSelector: [selected("productpage", "cluster-1")] },
      );
      await apply({ localized: { destinationSelectors: inTwoRegions, outlierDetection: detection } }, [policy]);
    }

    it("splits as it says, and its share fails over", async () => {
      // Out for as long as the answers are counted, however slow the machine is.
      await shift({}, { ...outlierDetection, baseEjectionTime: "120s" });
      expectShare(sharePercent(await answers(), server("cluster-1")), 75, 400);
      await meshes().setServer(server("cluster-1"), { status: 503 });
      await waitFor("its share in cluster-2", async () => (await servers({ host: productpage }))[server("cluster-1")] === undefined);
      expectShare(sharePercent(await answers(), server("cluster-2")), 75, 400);
    });

    itAtNight("fails over when the local server takes longer than the request timeout", async () => {
      await shift({ requestTimeout: "300ms" });
      await meshes().setServer(server("cluster-1"), { delaySeconds: 2 });
      await waitFor("no answer of the slow server, and no timeout", async () => {
        const { status, servers: counts } = await meshes().request({ host: productpage, count: 40 });
        return status[504] === undefined && (counts[server("cluster-2")] ?? 0) > 0;
      });
    });
  });
}

function to(from: string, ...regions: readonly string[]): object {
  return { from: { region: from }, to: regions.map((region) => ({ region })) };
}
