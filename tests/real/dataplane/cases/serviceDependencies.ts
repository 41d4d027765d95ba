import { describe, expect, it } from "vitest";
import { expectAll } from "../harness/expectations.ts";
import type { Meshes } from "../harness/meshes.ts";
import { service, serviceDependency } from "../harness/resources.ts";

const reviews = "reviews.bookinfo.svc.cluster.local";
const remoteReviews = "reviews.bookinfo.svc.cluster-2.global";
const remoteProductpage = "productpage.bookinfo.svc.cluster-2.global";
const client = "cluster-1/productpage-v1";

// Each request for an unknown name asks several DNS servers.
const TIMEOUT_MS = 240_000;

export function serviceDependencyCases(meshes: () => Meshes): void {
  describe("service dependencies", () => {
    const clusters = (pod = client) => meshes().counter(pod, "^cluster_manager.active_clusters$");

    it(
      "leave a proxy the hosts that its workload depends on, and no others",
      async () => {
        await meshes().apply({});
        expectAll(await meshes().request({ host: remoteProductpage }), 200, "cluster-2");
        const [before, ofOthers] = [await clusters(), await clusters("cluster-1/visitor")];

        const dependency = serviceDependency({
          sourceSelectors: [{ kubeWorkloadMatcher: { labels: { app: "productpage" }, clusters: ["cluster-1"] } }],
          destinationSelectors: [service("reviews", "cluster-1"), service("reviews", "cluster-2")],
        });
        const inForce = await meshes().apply({ policies: [dependency] });
        expect(inForce.status("under-test")).toMatchObject({ state: "ACCEPTED" });
        expectAll(await meshes().request({ host: reviews }), 200, "cluster-1/reviews-v1");
        expectAll(await meshes().request({ host: remoteReviews }), 200, "cluster-2");
        // A name that its proxy does not know is unknown to its DNS, too.
        expect((await meshes().request({ host: remoteProductpage, count: 1 })).errors).toEqual({ "DNS: no such host": 1 });
        const after = await clusters();
        console.log(`clusters in the proxy of ${client}: ${before} without, ${after} with a ServiceDependency`);
        expect(after).toBeLessThan(before);
        expect(await clusters("cluster-1/visitor")).toBe(ofOthers);
      },
      TIMEOUT_MS,
    );

    it("end with the object", async () => {
      await meshes().apply({});
      expectAll(await meshes().request({ host: remoteProductpage }), 200, "cluster-2");
    });
  });
}
