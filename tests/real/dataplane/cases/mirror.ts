import { itAtNight } from "@isthmus/testing/atNight";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../harness/waitFor.ts";
import { expectAll, expectShare } from "../harness/expectations.ts";
import type { Meshes } from "../harness/meshes.ts";
import { service, trafficPolicy } from "../harness/resources.ts";

const local = "reviews.bookinfo.svc.cluster.local";

export function mirrorCases(meshes: () => Meshes): void {
  const received = (pod: string) => meshes().counter(pod, "^http.inbound_0.0.0.0_9080.*downstream_rq_completed$");

  /** Requests that a pod gets while `count` go to the mirrored service, which alone answers. */
  async function copiesAt(pod: string, count: number, atLeast: number): Promise<number> {
    await meshes().settle({ host: local });
    const before = await received(pod);
    expectAll(await meshes().request({ host: local, count, concurrency: 4 }), 200, "cluster-1/reviews-v1");
    await waitFor(`${atLeast} copies`, async () => (await received(pod)) - before >= atLeast);
    return (await received(pod)) - before;
  }

  describe("a mirror", () => {
    itAtNight("gets every request when no percentage is given", async () => {
      const mirror = { kubeService: { name: "productpage", namespace: "bookinfo", clusterName: "cluster-2" } };
      await meshes().apply({ policies: [trafficPolicy({ mirror }, { destinationSelector: [service("reviews", "cluster-1")] })] });
      expect(await copiesAt("cluster-2/productpage-v1", 40, 40)).toBe(40);
    });

    it("gets requests of other clusters from there", async () => {
      const mirror = { kubeService: { name: "library", namespace: "bookinfo", clusterName: "cluster-2" }, port: 8081 };
      await meshes().apply({ policies: [trafficPolicy({ mirror }, { destinationSelector: [service("reviews", "cluster-1")] })] });
      const remote = { from: "cluster-2", host: "reviews.bookinfo.svc.cluster-1.global" } as const;
      await meshes().settle(remote);
      const [v1, v2] = [await received("cluster-2/reviews-v1"), await received("cluster-2/reviews-v2")];
      expectAll(await meshes().request({ ...remote, count: 40 }), 200, "cluster-1/reviews-v1");
      const copies = async () => (await received("cluster-2/reviews-v1")) + (await received("cluster-2/reviews-v2")) - v1 - v2;
      await waitFor("40 copies", async () => (await copies()) >= 40);
      expect(await copies()).toBe(40);
    });

    it("gets a share of requests, in the cluster itself too", async () => {
      const mirror = { kubeService: { name: "productpage", namespace: "bookinfo", clusterName: "cluster-1" }, percentage: 25 };
      await meshes().apply({ policies: [trafficPolicy({ mirror }, { destinationSelector: [service("reviews", "cluster-1")] })] });
      const count = 800;
      expectShare((100 * (await copiesAt("cluster-1/productpage-v1", count, 1))) / count, 25, count);
    });
  });
}
