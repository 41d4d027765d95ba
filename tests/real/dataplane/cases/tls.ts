import { itAtNight } from "@isthmus/testing/atNight";
import { describe, expect, it } from "vitest";
import { expectAll } from "../harness/expectations.ts";
import type { Meshes } from "../harness/meshes.ts";
import { service, settings, trafficPolicy } from "../harness/resources.ts";

const local = "reviews.bookinfo.svc.cluster.local";
// Only a server that was called over mutual TLS knows its client.
const CLIENT = "x-forwarded-client-cert";

export function tlsCases(meshes: () => Meshes): void {
  const toReviews = { destinationSelector: [service("reviews", "cluster-1")] };

  describe("TLS between sidecars", () => {
    it("is mutual where the settings say so", async () => {
      await meshes().apply({ settings: settings() });
      const answers = await meshes().request({ host: local });
      expectAll(answers, 200);
      expect(answers.last?.headers).toHaveProperty(CLIENT);
    });

    it("is off for a service whose policy says so", async () => {
      await meshes().apply({ settings: settings(), policies: [trafficPolicy({ mtls: { istio: { tlsMode: "DISABLE" } } }, toReviews)] });
      const answers = await meshes().request({ host: local });
      expectAll(answers, 200);
      expect(answers.last?.headers).not.toHaveProperty(CLIENT);
      expect((await meshes().request({ host: "productpage.bookinfo" })).last?.headers).toHaveProperty(CLIENT);
    });

    itAtNight("is on for a service whose policy says so, against the settings", async () => {
      const policies = [trafficPolicy({ mtls: { istio: { tlsMode: "ISTIO_MUTUAL" } } }, toReviews)];
      await meshes().apply({ settings: settings({ mtls: { istio: { tlsMode: "DISABLE" } } }), policies });
      expect((await meshes().request({ host: local })).last?.headers).toHaveProperty(CLIENT);
      expect((await meshes().request({ host: "productpage.bookinfo" })).last?.headers).not.toHaveProperty(CLIENT);
    });
  });
}
