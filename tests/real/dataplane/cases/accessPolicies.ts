import { itAtNight } from "@isthmus/testing/atNight";
import { beforeAll, describe, it } from "vitest";
import { expectAll } from "../harness/expectations.ts";
import type { Meshes } from "../harness/meshes.ts";
import { accessPolicy, service, services, virtualMesh } from "../harness/resources.ts";
import type { RequestOptions } from "../harness/testbed.ts";

const local = "reviews.bookinfo.svc.cluster.local";
const ofTwo = "reviews.bookinfo.svc.cluster-2.global";
const ofOne = "reviews.bookinfo.svc.cluster-1.global";

const productpage = { identity: "bookinfo-productpage" };
const sleep = { identity: "sleep" };
const visitor = { identity: "visitor" };

export function accessPolicyCases(meshes: () => Meshes): void {
  async function expectStatus(status: number, requests: readonly RequestOptions[]): Promise<void> {
    const answers = await Promise.all(requests.map((request) => meshes().request({ count: 4, ...request })));
    for (const answer of answers) expectAll(answer, status);
  }

  describe("an AccessPolicy allows only", () => {
    it("one service account of one cluster", async () => {
      const serviceAccounts = [{ name: "bookinfo-productpage", namespace: "bookinfo", clusterName: "cluster-1" }];
      const sourceSelector = [{ kubeServiceAccountRefs: { serviceAccounts } }];
      await meshes().apply({ policies: [accessPolicy({ sourceSelector, destinationSelector: services("reviews") })] });
      await expectStatus(200, [
        { host: local, ...productpage },
        { host: ofTwo, ...productpage },
      ]);
      await expectStatus(403, [
        { host: local, ...sleep },
        { host: ofTwo, ...sleep },
        { from: "cluster-2", host: local },
        { from: "cluster-2", host: ofOne },
      ]);
      await expectStatus(200, [{ host: "productpage.bookinfo", ...sleep }]);
    });

    it("a service account of any cluster, when none is named", async () => {
      const sourceSelector = [{ kubeServiceAccountRefs: { serviceAccounts: [{ name: "bookinfo-productpage", namespace: "bookinfo" }] } }];
      await meshes().apply({ policies: [accessPolicy({ sourceSelector, destinationSelector: services("reviews") })] });
      await expectStatus(200, [
        { host: ofTwo, ...productpage },
        { from: "cluster-2", host: local },
        { from: "cluster-2", host: ofOne },
      ]);
      await expectStatus(403, [{ host: ofTwo, ...sleep }]);
    });

    itAtNight("callers of one cluster", async () => {
      const sourceSelector = [{ kubeIdentityMatcher: { clusters: ["cluster-1"] } }];
      await meshes().apply({ policies: [accessPolicy({ sourceSelector, destinationSelector: [service("reviews", "cluster-2")] })] });
      await expectStatus(200, [
        { host: ofTwo, ...sleep },
        { host: ofTwo, ...visitor },
      ]);
      await expectStatus(403, [{ from: "cluster-2", host: local }]);
    });

    itAtNight("callers of one namespace", async () => {
      const sourceSelector = [{ kubeIdentityMatcher: { namespaces: ["bookinfo"] } }];
      await meshes().apply({ policies: [accessPolicy({ sourceSelector, destinationSelector: services("reviews") })] });
      await expectStatus(200, [
        { host: local, ...sleep },
        { host: ofTwo, ...productpage },
      ]);
      await expectStatus(403, [
        { host: local, ...visitor },
        { host: ofTwo, ...visitor },
      ]);
    });

    it("callers of one namespace of one cluster", async () => {
      const sourceSelector = [{ kubeIdentityMatcher: { namespaces: ["bookinfo"], clusters: ["cluster-1"] } }];
      await meshes().apply({ policies: [accessPolicy({ sourceSelector, destinationSelector: services("reviews") })] });
      await expectStatus(200, [{ host: ofTwo, ...sleep }]);
      await expectStatus(403, [
        { host: ofTwo, ...visitor },
        { from: "cluster-2", host: local },
      ]);
    });

    it("what it names, for every service, when no destination is selected", async () => {
      const sourceSelector = [{ kubeIdentityMatcher: { namespaces: ["bookinfo"], clusters: ["cluster-1"] } }];
      await meshes().apply({ policies: [accessPolicy({ sourceSelector })] });
      await expectStatus(200, [
        { host: local, ...sleep },
        { host: ofTwo, ...sleep },
        { host: "productpage.bookinfo.svc.cluster-2.global", ...productpage },
      ]);
      await expectStatus(403, [
        { host: ofTwo, ...visitor },
        { host: "productpage.bookinfo", ...visitor },
        { from: "cluster-2", host: ofOne },
      ]);
    });

    itAtNight("what any of several policies and entries allows", async () => {
      const destinationSelector = services("reviews");
      const account = { name: "sleep", namespace: "bookinfo", clusterName: "cluster-1" };
      const entries = [{ kubeServiceAccountRefs: { serviceAccounts: [account] } }, { kubeIdentityMatcher: { namespaces: ["visitors"] } }];
      const policies = [
        accessPolicy({ sourceSelector: entries, destinationSelector, allowedPaths: ["/both"] }, { name: "first" }),
        accessPolicy({ sourceSelector: [{ kubeIdentityMatcher: { clusters: ["cluster-2"] } }], destinationSelector }, { name: "second" }),
      ];
      await meshes().apply({ policies });
      await expectStatus(200, [
        { host: ofTwo, path: "/both", ...sleep },
        { host: ofTwo, path: "/both", ...visitor },
        { from: "cluster-2", host: ofOne },
      ]);
      await expectStatus(403, [
        { host: ofTwo, path: "/other", ...sleep },
        { host: ofTwo, path: "/both", ...productpage },
      ]);
    });

    itAtNight("some methods", async () => {
      await meshes().apply({ policies: [accessPolicy({ destinationSelector: services("reviews"), allowedMethods: ["GET", "PUT"] })] });
      await expectStatus(200, [{ host: ofTwo }, { host: local, method: "PUT" }]);
      await expectStatus(403, [
        { host: ofTwo, method: "POST" },
        { host: local, method: "DELETE" },
      ]);
    });

    it("some paths: whole, by prefix and by suffix", async () => {
      const allowedPaths = ["/whole", "/start*", "*/end"];
      await meshes().apply({ policies: [accessPolicy({ destinationSelector: services("reviews"), allowedPaths })] });
      await expectStatus(
        200,
        ["/whole", "/start/x", "/x/end"].map((path) => ({ host: ofTwo, path })),
      );
      await expectStatus(
        403,
        ["/whole/x", "/x/start", "/x/end/y"].map((path) => ({ host: ofTwo, path })),
      );
    });

    it("some ports", async () => {
      await meshes().apply({ policies: [accessPolicy({ destinationSelector: services("reviews"), allowedPorts: [9080] })] });
      await expectStatus(200, [{ host: ofTwo }]);
      await meshes().apply({ policies: [accessPolicy({ destinationSelector: services("reviews"), allowedPorts: [9999] })] });
      await expectStatus(403, [{ host: ofTwo }, { host: local }]);
    });

    itAtNight("everybody when its sources are empty", async () => {
      for (const sourceSelector of [[], [{}]]) {
        await meshes().apply({
          policies: [accessPolicy({ sourceSelector, destinationSelector: services("reviews"), allowedPaths: ["/open*"] })],
        });
        await expectStatus(200, [
          { host: ofTwo, path: "/open", ...visitor },
          { from: "cluster-2", host: ofOne, path: "/open" },
        ]);
        await expectStatus(403, [{ host: ofTwo, path: "/closed", ...visitor }]);
      }
    });
  });

  describe("a global access policy that is", () => {
    const withGlobal = (globalAccessPolicy: "ENABLED" | "DISABLED") => virtualMesh({ federation: { selectors: [{}] }, globalAccessPolicy });

    describe("enabled", () => {
      beforeAll(async () => {
        const sourceSelector = [{ kubeIdentityMatcher: { namespaces: ["bookinfo"], clusters: ["cluster-1"] } }];
        const policies = [accessPolicy({ sourceSelector, destinationSelector: services("reviews") })];
        await meshes().apply({ virtualMesh: withGlobal("ENABLED"), policies });
      });

      it("refuses what no AccessPolicy allows", async () => {
        await expectStatus(403, [
          { host: "productpage.bookinfo", ...sleep },
          { host: "productpage.bookinfo.svc.cluster-2.global", ...sleep },
          { host: ofTwo, ...visitor },
          { from: "cluster-2", host: ofOne },
        ]);
      });

      it("lets through what one allows, in both clusters, through the gateway too", async () => {
        await expectStatus(200, [
          { host: local, ...sleep },
          { host: ofTwo, ...sleep },
        ]);
      });
    });

    it("disabled refuses nothing", async () => {
      await meshes().apply({ virtualMesh: withGlobal("DISABLED") });
      await expectStatus(200, [
        { host: "productpage.bookinfo", ...sleep },
        { host: ofTwo, ...visitor },
      ]);
    });
  });
}
