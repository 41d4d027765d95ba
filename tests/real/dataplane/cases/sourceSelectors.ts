import type { WorkloadSelector } from "@isthmus/api";
import { itAtNight } from "@isthmus/testing/atNight";
import { describe, it } from "vitest";
import { expectAll } from "../harness/expectations.ts";
import type { Meshes } from "../harness/meshes.ts";
import { service, trafficPolicy } from "../harness/resources.ts";

const local = "reviews.bookinfo.svc.cluster.local";
const ofOne = "reviews.bookinfo.svc.cluster-1.global";
const ofTwo = "reviews.bookinfo.svc.cluster-2.global";

const abort = { faultInjection: { abort: { httpStatus: 418 } } };

export function sourceSelectorCases(meshes: () => Meshes): void {
  // 418 for those that are selected, by a policy of narrower sources than the other, which is for everybody.
  async function stopping(sourceSelector: readonly WorkloadSelector[], of: "cluster-1" | "cluster-2"): Promise<void> {
    const destinationSelector = [service("reviews", of)];
    const stop = trafficPolicy(abort, { sourceSelector: [...sourceSelector], destinationSelector });
    const rest = trafficPolicy({ requestTimeout: "20s" }, { destinationSelector }, { name: "rest" });
    await meshes().apply({ policies: [stop, rest] });
  }

  describe("source selectors select", () => {
    itAtNight("callers by the labels of their pods", async () => {
      await stopping([{ kubeWorkloadMatcher: { labels: { app: "sleep" } } }], "cluster-1");
      expectAll(await meshes().request({ host: local, identity: "sleep" }), 418);
      expectAll(await meshes().request({ host: local, identity: "bookinfo-productpage" }), 200);
    });

    itAtNight("callers by their namespace", async () => {
      await stopping([{ kubeWorkloadMatcher: { namespaces: ["visitors"] } }], "cluster-2");
      expectAll(await meshes().request({ host: ofTwo, identity: "visitor" }), 418);
      expectAll(await meshes().request({ host: ofTwo, identity: "sleep" }), 200);
    });

    itAtNight("callers by namespace and labels together", async () => {
      await stopping([{ kubeWorkloadMatcher: { namespaces: ["bookinfo"], labels: { app: "visitor" } } }], "cluster-1");
      expectAll(await meshes().request({ host: local, identity: "visitor" }), 200);
      expectAll(await meshes().request({ host: local, identity: "sleep" }), 200);
    });

    it("callers by their cluster", async () => {
      await stopping([{ kubeWorkloadMatcher: { clusters: ["cluster-2"] } }], "cluster-1");
      expectAll(await meshes().request({ from: "cluster-2", host: ofOne }), 418);
      expectAll(await meshes().request({ host: local }), 200);
    });

    itAtNight("what any of several entries selects, with namespace and cluster kept together", async () => {
      const entries = [
        { kubeWorkloadMatcher: { clusters: ["cluster-2"] } },
        { kubeWorkloadMatcher: { clusters: ["cluster-1"], namespaces: ["visitors"] } },
      ];
      await stopping(entries, "cluster-1");
      expectAll(await meshes().request({ from: "cluster-2", host: ofOne }), 418);
      expectAll(await meshes().request({ host: local, identity: "visitor" }), 418);
      expectAll(await meshes().request({ host: local, identity: "sleep" }), 200);
    });

    it("together with request matchers: both must hold", async () => {
      const destinationSelector = [service("reviews", "cluster-2")];
      const sourceSelector = [{ kubeWorkloadMatcher: { namespaces: ["visitors"] } }];
      const selectors = { sourceSelector, destinationSelector, httpRequestMatchers: [{ uri: { prefix: "/api" } }] };
      const stop = trafficPolicy(abort, selectors);
      await meshes().apply({ policies: [stop, trafficPolicy({ requestTimeout: "20s" }, { destinationSelector }, { name: "rest" })] });
      expectAll(await meshes().request({ host: ofTwo, identity: "visitor", path: "/api/x" }), 418);
      expectAll(await meshes().request({ host: ofTwo, identity: "visitor", path: "/x" }), 200);
      expectAll(await meshes().request({ host: ofTwo, identity: "sleep", path: "/api/x" }), 200);
    });

    it("everybody with an empty entry", async () => {
      const stop = trafficPolicy(abort, { sourceSelector: [{}], destinationSelector: [service("reviews", "cluster-1")] });
      await meshes().apply({ policies: [stop] });
      expectAll(await meshes().request({ host: local, identity: "visitor" }), 418);
      expectAll(await meshes().request({ from: "cluster-2", host: ofOne }), 418);
    });
  });
}
