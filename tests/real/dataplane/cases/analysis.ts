import { describe, expect, it } from "vitest";
import type { Meshes } from "../harness/meshes.ts";
import { accessPolicy, services, trafficPolicy, virtualMesh } from "../harness/resources.ts";
import { clusterNames } from "../harness/testbed.ts";

/** What the analysis says against objects that traffic shows to work, each with the reason. */
const mistaken: readonly { readonly code: string; readonly message: RegExp; readonly reason: string }[] = [
  {
    code: "IST0101",
    message: /^Referenced host\+subset in destinationrule not found: "\S+\.global\+/,
    reason: "it looks for the DestinationRule in the namespace of the VirtualService only; proxies find it in the root namespace",
  },
  {
    code: "IST0173",
    message: /^The Subset \S+ defined in the DestinationRule does not select any pods/,
    reason: "it looks at pods only; a federated service has the endpoints of its ServiceEntry",
  },
];

const generatedKinds = ["VirtualService", "DestinationRule", "ServiceEntry", "Gateway", "AuthorizationPolicy"];

export function analysisCases(meshes: () => Meshes): void {
  describe("Istio's own analysis", () => {
    it("finds nothing wrong with what we generate, but what traffic shows to work", async () => {
      const to = (clusterName: string, version: string) => ({
        kubeService: { name: "reviews", namespace: "bookinfo", clusterName, subset: { version } },
        weight: 50,
      });
      const toReviews = { destinationSelector: services("reviews") };
      await meshes().apply({
        virtualMesh: virtualMesh({ federation: { selectors: [{}] }, globalAccessPolicy: "ENABLED" }),
        policies: [
          trafficPolicy({ trafficShift: { destinations: [to("cluster-1", "v1"), to("cluster-2", "v2")] } }, toReviews, { name: "shift" }),
          trafficPolicy({ retries: { attempts: 2 }, outlierDetection: {} }, {}, { name: "everywhere" }),
          accessPolicy({ sourceSelector: [{ kubeIdentityMatcher: { namespaces: ["bookinfo"] } }] }),
        ],
      });
      for (const cluster of clusterNames) {
        const found = (await meshes().analyze(cluster)).filter(({ origin }) => generatedKinds.includes(origin.split(" ")[0] ?? ""));
        expect(found.filter(({ code, message }) => !mistaken.some((known) => known.code === code && known.message.test(message)))).toEqual(
          [],
        );
      }
    });
  });
}
