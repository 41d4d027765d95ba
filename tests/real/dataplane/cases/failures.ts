import type { TrafficPolicyRules } from "@isthmus/api";
import { itAtNight } from "@isthmus/testing/atNight";
import { afterEach, describe, expect, it } from "vitest";
import { waitFor } from "../../harness/waitFor.ts";
import { expectAll, expectShare, sharePercent, statusPercent } from "../harness/expectations.ts";
import type { Meshes } from "../harness/meshes.ts";
import { service, services, trafficPolicy } from "../harness/resources.ts";
import type { Answers, RequestOptions } from "../harness/testbed.ts";

const local = "reviews.bookinfo.svc.cluster.local";
const ofTwo = "reviews.bookinfo.svc.cluster-2.global";
const count = 400;

export function failureCases(meshes: () => Meshes): void {
  describe("when something fails:", () => {
    async function apply(rules: TrafficPolicyRules): Promise<void> {
      await meshes().apply({ policies: [trafficPolicy(rules, { destinationSelector: services("reviews") })] });
      // Before a server becomes ill or slow.
      await Promise.all([{ host: local }, { host: ofTwo }, { from: "cluster-2", host: local } as const].map(meshes().settle));
    }

    afterEach(async () => {
      await Promise.all(["cluster-1/reviews-v1", "cluster-2/reviews-v1", "cluster-2/reviews-v2"].map((pod) => meshes().setServer(pod, {})));
    });

    describe("fault injection", () => {
      it("aborts every request when no percentage is given", async () => {
        await apply({ faultInjection: { abort: { httpStatus: 451 } } });
        expectAll(await meshes().request({ host: local }), 451);
        expectAll(await meshes().request({ host: ofTwo }), 451);
      });

      itAtNight("aborts the given share of requests", async () => {
        await apply({ faultInjection: { abort: { httpStatus: 451 }, percentage: 30 } });
        expectShare(statusPercent(await meshes().request({ host: local, count, concurrency: 4 }), 451), 30, count);
      });

      it("aborts nothing when the percentage is 0", async () => {
        await apply({ faultInjection: { abort: { httpStatus: 451 }, percentage: 0 } });
        expectAll(await meshes().request({ host: local, count: 100 }), 200);
      });

      itAtNight("delays every request when no percentage is given", async () => {
        // The proxy's timers begin at the time that its loop has last looked at, up to some milliseconds ago: seen were 299.8 of 300.
        await apply({ faultInjection: { fixedDelay: "310ms" } });
        const answers = await meshes().request({ host: ofTwo, count: 4 });
        expectAll(answers, 200);
        expect(answers.latency_ms.p50).toBeGreaterThanOrEqual(300);
      });

      itAtNight("delays only a share of requests", async () => {
        await apply({ faultInjection: { fixedDelay: "410ms", percentage: 10 } });
        const { latency_ms } = await meshes().request({ host: local, count, concurrency: 8 });
        expect(latency_ms.p50).toBeLessThan(400);
        expect(latency_ms.p99).toBeGreaterThanOrEqual(400);
      });
    });

    describe("a timeout", () => {
      it("ends requests that take longer, local and remote", async () => {
        await apply({ requestTimeout: "300ms" });
        await meshes().setServer("cluster-1/reviews-v1", { delaySeconds: 3 });
        await meshes().setServer("cluster-2/reviews-v1", { delaySeconds: 3 });
        await meshes().setServer("cluster-2/reviews-v2", { delaySeconds: 3 });
        for (const host of [local, ofTwo]) {
          const answers = await meshes().request({ host, count: 4, concurrency: 4 });
          expectAll(answers, 504);
          expect(answers.latency_ms.p50).toBeLessThan(3_000);
        }
      });

      itAtNight("leaves requests alone that are in time", async () => {
        await apply({ requestTimeout: "5s" });
        await meshes().setServer("cluster-1/reviews-v1", { delaySeconds: 0.5 });
        expectAll(await meshes().request({ host: local, count: 4, concurrency: 4 }), 200);
      });
    });

    // Istio's own list of reasons for a retry holds: it has failed connections, not a server's 503.
    describe("retries", () => {
      it("are as many as the policy says", async () => {
        await apply({ retries: { attempts: 4 } });
        expect(await retriesOf(10)).toBe(40);
      });

      itAtNight("are none when the policy says 0", async () => {
        await apply({ retries: { attempts: 0 } });
        expect(await retriesOf(10)).toBe(0);
      });

      itAtNight("are two when the policy only says how long one may take", async () => {
        await apply({ retries: { perTryTimeout: "2s" } });
        expect(await retriesOf(10)).toBe(20);
      });

      it("find another server", async () => {
        await apply({ retries: { attempts: 3, perTryTimeout: "2s" } });
        expectAll(await whileRefusing("cluster-2/reviews-v2", { from: "cluster-2", host: local, count: 40 }), 200, "cluster-2/reviews-v1");
      });

      itAtNight("leave each attempt the time that the policy says", async () => {
        await apply({ retries: { attempts: 1, perTryTimeout: "200ms" } });
        await meshes().setServer("cluster-1/reviews-v1", { delaySeconds: 2 });
        const { latency_ms, status } = await meshes().request({ host: local, count: 4, concurrency: 4 });
        expect(status).toEqual({ 504: 4 });
        expect(latency_ms.p50).toBeLessThan(2_000);
      });

      async function retriesOf(count: number): Promise<number> {
        let before = 0;
        const answers = await whileRefusing("cluster-1/reviews-v1", { host: local, count }, async () => {
          before = await retries();
        });
        expectAll(answers, 503);
        return (await retries()) - before;
      }

      /** Requests while a pod refuses connections; `begin` runs when no connection is left from before. */
      async function whileRefusing(
        pod: string,
        request: RequestOptions,
        begin: () => Promise<void> = async () => undefined,
      ): Promise<Answers> {
        await meshes().refuseConnections(pod, true);
        try {
          // Connections that are open end with an error that is no reason for a retry.
          await meshes().request({ ...request, count: 1, warmup: 24 });
          await begin();
          return await meshes().request({ ...request });
        } finally {
          await meshes().refuseConnections(pod, false);
        }
      }

      function retries(): Promise<number> {
        return meshes().counter("cluster-1/productpage-v1", "outbound.9080..reviews.bookinfo.svc.cluster.local.*upstream_rq_retry$");
      }
    });

    describe("outlier detection", () => {
      const outlierDetection = { consecutiveErrors: 3, interval: "1s", baseEjectionTime: "30s", maxEjectionPercent: 100 };

      itAtNight("takes a failing server out of the local service", async () => {
        await apply({ outlierDetection });
        await meshes().setServer("cluster-2/reviews-v2", { status: 500 });
        const answers = await meshes().request({ from: "cluster-2", host: local, count: 100 });
        expect(answers.status["500"]).toBeLessThanOrEqual(6);
        expect(sharePercent(answers, "cluster-2/reviews-v1")).toBeGreaterThanOrEqual(94);
      });

      it("takes a failing remote service out, until its time is over", async () => {
        await apply({ outlierDetection: { ...outlierDetection, baseEjectionTime: "3s" } });
        await meshes().setServer("cluster-2/reviews-v1", { status: 500 });
        await meshes().setServer("cluster-2/reviews-v2", { status: 500 });
        const { status } = await meshes().request({ host: ofTwo, count: 60 });
        expect(status["500"]).toBeLessThanOrEqual(12);
        expect(status["503"]).toBeGreaterThanOrEqual(48);
        await meshes().setServer("cluster-2/reviews-v1", {});
        await meshes().setServer("cluster-2/reviews-v2", {});
        await waitFor("the service to be back", async () => "200" in (await meshes().request({ host: ofTwo, count: 1 })).status);
      });

      itAtNight("does not while errors are fewer", async () => {
        await apply({ outlierDetection: { ...outlierDetection, consecutiveErrors: 1_000 } });
        await meshes().setServer("cluster-2/reviews-v2", { status: 500 });
        const answers = await meshes().request({ from: "cluster-2", host: local, count: 100 });
        expect(answers.status["500"]).toBeGreaterThanOrEqual(30);
      });
    });

    describe("connection pool settings", () => {
      it("refuse what is more than may wait", async () => {
        const policies = [
          trafficPolicy(
            { connectionPoolSettings: { tcp: { maxConnections: 1 }, http: { http1MaxPendingRequests: 1, maxRequestsPerConnection: 1 } } },
            { destinationSelector: [service("reviews", "cluster-1")] },
          ),
        ];
        await meshes().apply({ policies });
        await meshes().settle({ host: local });
        await meshes().setServer("cluster-1/reviews-v1", { delaySeconds: 0.5 });
        const { status } = await meshes().request({ host: local, count: 8, concurrency: 8 });
        expect(status["503"]).toBeGreaterThanOrEqual(4);
        expect(status["200"]).toBeGreaterThanOrEqual(1);
      });
    });
  });
}
