import type { ServiceEntry } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import { describe, expect, it } from "vitest";
import { expectAll } from "../harness/expectations.ts";
import type { Meshes } from "../harness/meshes.ts";
import { service, virtualDestination } from "../harness/resources.ts";

const federated = "reviews.bookinfo.svc.cluster-2.global";
const virtual = "reviews.virtual.global";
const toReviews = virtualDestination({ hostname: virtual, static: { destinations: reviewsOfTwo() } });

export function identityCases(meshes: () => Meshes): void {
  describe("identities of what is called", () => {
    it.each([federated, virtual])("lets pods answer that are of the service: %s", async (host) => {
      const { items } = await meshes().apply({ policies: [toReviews] });
      expect(entryFor(host, "cluster-1", items)?.spec?.subjectAltNames).toEqual(["spiffe://cluster-2/ns/bookinfo/sa/bookinfo-reviews"]);
      expectAll(await meshes().request({ host }), 200, "cluster-2");
    });

    // As with a gateway that is somebody else's: connections end at pods that have certificates of the same root, and another service account.
    it.each([federated, virtual])("refuses pods of another service, whose certificates have the same root: %s", async (host) => {
      const led = (items: readonly AnyResource[]) => items.map((item) => ledToProductpage(item, host, items));
      await meshes().apply({ policies: [toReviews], changed: (items) => led(items).map(withoutIdentities) });
      expectAll(await meshes().request({ host }), 200, "cluster-2/productpage-v1");

      await meshes().apply({ policies: [toReviews], changed: led });
      const refused = await meshes().request({ host });
      expect(refused.servers).toEqual({ "(none)": 20 });
      expectAll(refused, 503);
      expect(await meshes().counter("cluster-1/productpage-v1", `^cluster.outbound.9080..${host}.*fail_verify_san`)).toBeGreaterThan(0);
    });
  });
}

function reviewsOfTwo() {
  const { kubeServiceRefs } = service("reviews", "cluster-2");
  return (kubeServiceRefs?.services ?? []).map((kubeService) => ({ kubeService }));
}

function entryFor(host: string, cluster: string, items: readonly AnyResource[]): ServiceEntry | undefined {
  const found = items.find(
    (item) => item.kind === "ServiceEntry" && item.metadata.clusterName === cluster && (item as ServiceEntry).spec?.hosts?.includes(host),
  );
  return found as ServiceEntry | undefined;
}

/** In cluster-2 the host has the pods of productpage, with their own port. */
function ledToProductpage(item: AnyResource, host: string, items: readonly AnyResource[]): AnyResource {
  const { spec } = item as ServiceEntry;
  if (item.kind !== "ServiceEntry" || item.metadata.clusterName !== "cluster-2" || !spec?.hosts?.includes(host)) return item;
  const others = entryFor("productpage.bookinfo.svc.cluster-2.global", "cluster-2", items)?.spec?.endpoints ?? [];
  expect(others).toHaveLength(1);
  return { ...item, spec: { ...spec, endpoints: others } };
}

function withoutIdentities(item: AnyResource): AnyResource {
  if (item.kind !== "ServiceEntry") return item;
  const { subjectAltNames: _, ...spec } = (item as ServiceEntry).spec ?? {};
  return { ...item, spec };
}
