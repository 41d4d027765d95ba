import type { AnyResource } from "@isthmus/core";
import { itAtNight } from "@isthmus/testing/atNight";
import { describe, expect, it } from "vitest";
import { expectAll } from "../harness/expectations.ts";
import type { Meshes } from "../harness/meshes.ts";
import { accessPolicy, service, services, trafficPolicy } from "../harness/resources.ts";

const local = "reviews.bookinfo.svc.cluster.local";
const ofTwo = "reviews.bookinfo.svc.cluster-2.global";
const toReviews = { destinationSelector: services("reviews") };
const abort = (httpStatus: number) => ({ faultInjection: { abort: { httpStatus } } });

export function precedenceCases(meshes: () => Meshes): void {
  describe("of several policies", () => {
    it("an invalid one leaves a good one in force", async () => {
      const nowhere = [{ kubeService: { name: "nobody", namespace: "bookinfo", clusterName: "cluster-1" }, weight: 100 }];
      const policies = [
        trafficPolicy({ trafficShift: { destinations: nowhere }, ...abort(418) }, toReviews, {
          name: "broken",
          createdAt: "2020-01-01T00:00:00Z",
        }),
        trafficPolicy(abort(451), toReviews, { name: "good", createdAt: "2021-01-01T00:00:00Z" }),
      ];
      const { exitCode, status } = await meshes().apply({ policies });
      expect(exitCode).toBe(1);
      expect(status("broken").state).toBe("INVALID");
      expect(status("good").state).toBe("ACCEPTED");
      expectAll(await meshes().request({ host: local }), 451);
      expectAll(await meshes().request({ host: ofTwo }), 451);
    });

    itAtNight("the older one wins, whatever their names", async () => {
      const policies = [
        trafficPolicy(abort(418), toReviews, { name: "a-younger", createdAt: "2022-01-01T00:00:00Z" }),
        trafficPolicy(abort(451), toReviews, { name: "z-older", createdAt: "2021-01-01T00:00:00Z" }),
      ];
      const { status } = await meshes().apply({ policies });
      expectAll(await meshes().request({ host: local }), 451);
      expectAll(await meshes().request({ host: ofTwo }), 451);
      expect(status("z-older").state).toBe("ACCEPTED");
      expect(status("a-younger").state).toBe("INVALID");
    });

    itAtNight("those that set different things are merged", async () => {
      const policies = [
        trafficPolicy({ headerManipulation: { appendRequestHeaders: { "x-one": "1" } } }, toReviews, { name: "headers" }),
        trafficPolicy({ requestTimeout: "200ms" }, toReviews, { name: "timeout" }),
      ];
      await meshes().apply({ policies });
      await meshes().settle({ host: local });
      await meshes().setServer("cluster-1/reviews-v1", { delaySeconds: 1 });
      try {
        expectAll(await meshes().request({ host: local, count: 4, concurrency: 4 }), 504);
      } finally {
        await meshes().setServer("cluster-1/reviews-v1", {});
      }
      expect((await meshes().request({ host: local })).last?.headers).toMatchObject({ "x-one": "1" });
    });

    it("one without selectors is for every service, local and remote", async () => {
      await meshes().apply({ policies: [trafficPolicy(abort(451))] });
      for (const host of [local, ofTwo, "productpage.bookinfo", "productpage.bookinfo.svc.cluster-2.global"]) {
        expectAll(await meshes().request({ host }), 451);
      }
    });

    it("the one with the narrower matcher comes first", async () => {
      const narrow = { ...toReviews, httpRequestMatchers: [{ uri: { prefix: "/api" }, method: "POST" }] };
      const policies = [
        trafficPolicy(abort(451), toReviews, { name: "all", createdAt: "2020-01-01T00:00:00Z" }),
        trafficPolicy(abort(418), narrow, { name: "narrow", createdAt: "2022-01-01T00:00:00Z" }),
      ];
      await meshes().apply({ policies });
      expectAll(await meshes().request({ host: ofTwo, path: "/api/x", method: "POST" }), 418);
      expectAll(await meshes().request({ host: ofTwo, path: "/api/x" }), 451);
    });

    it("a narrow one adds to a wide one, and takes off what it says is none", async () => {
      const wide = { headerManipulation: { appendRequestHeaders: { "x-wide": "1" } }, requestTimeout: "200ms" };
      const events = { ...toReviews, httpRequestMatchers: [{ uri: { prefix: "/events" } }] };
      await meshes().apply({
        policies: [trafficPolicy(wide, toReviews, { name: "wide" }), trafficPolicy({ requestTimeout: "0s" }, events, { name: "events" })],
      });
      await meshes().settle({ host: local });
      await meshes().setServer("cluster-1/reviews-v1", { delaySeconds: 1 });
      try {
        expectAll(await meshes().request({ host: local, count: 4, concurrency: 4 }), 504);
        const unlimited = await meshes().request({ host: local, path: "/events", count: 4, concurrency: 4 });
        expectAll(unlimited, 200);
        expect(unlimited.last?.headers).toMatchObject({ "x-wide": "1" });
      } finally {
        await meshes().setServer("cluster-1/reviews-v1", {});
      }
    });

    it("an AccessPolicy with a selector that nobody understands allows nobody, beside one that is understood", async () => {
      const misunderstood = { requestIdentityMatcher: { requestPrincipals: ["*"] } };
      const policies = [
        accessPolicy({ sourceSelector: [misunderstood], destinationSelector: [service("reviews", "cluster-2")] }, { name: "broken" }),
        accessPolicy(
          { sourceSelector: [{ kubeIdentityMatcher: { namespaces: ["visitors"] } }], destinationSelector: services("reviews") },
          { name: "good" },
        ),
      ];
      const { status } = await meshes().apply({ policies });
      expect(status("broken").state).toBe("INVALID");
      expectAll(await meshes().request({ host: ofTwo, identity: "visitor" }), 200);
      expectAll(await meshes().request({ host: ofTwo, identity: "sleep" }), 403);
    });
  });

  describe("a user's own VirtualService for the host", () => {
    const own: AnyResource = {
      apiVersion: "networking.istio.io/v1",
      kind: "VirtualService",
      metadata: { name: "a-own", namespace: "bookinfo" },
      spec: { hosts: [local], http: [{ directResponse: { status: 299 } }] },
    };

    it("is warned of", async () => {
      const { status } = await meshes().apply({ policies: [trafficPolicy(abort(451), toReviews)], own: { "cluster-1": [own] } });
      expect(JSON.stringify(status("under-test"))).toContain("a-own");
      expect(status("under-test").state).not.toBe("INVALID");
      expectAll(await meshes().request({ host: ofTwo }), 451);
    });

    it("stays in force where it must not be met", async () => {
      const { status } = await meshes().apply({
        policies: [trafficPolicy(abort(451), toReviews)],
        own: { "cluster-1": [own] },
        flags: ["--disallow-intersecting-config"],
      });
      expect(status("under-test").state).toBe("INVALID");
      expectAll(await meshes().request({ host: local }), 299);
      expectAll(await meshes().request({ host: ofTwo }), 451);
    });
  });
}
