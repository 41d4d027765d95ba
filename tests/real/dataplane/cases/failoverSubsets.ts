import { afterEach, describe, expect, it } from "vitest";
import { waitFor } from "../../harness/waitFor.ts";
import { expectShare, sharePercent } from "../harness/expectations.ts";
import type { Meshes } from "../harness/meshes.ts";
import { freshConnections, service, trafficPolicy, virtualDestination } from "../harness/resources.ts";
import { threeClusterNames } from "../harness/testbed.ts";
import { outlierDetection } from "./failoverProbes.ts";

const host = "productpage.bookinfo.svc.cluster.local";
const [local, remote, remoteV2] = ["cluster-1/ratings-v1", "cluster-2/ratings-v1", "cluster-2/ratings-v2"] as const;

/** Of ratings there is v1 in cluster-1, v1 and v2 in cluster-2, and nothing in cluster-3. */
export function failoverSubsetCases(meshes: () => Meshes): void {
  afterEach(async () => {
    await meshes().setServer(local, {});
  });

  /** Three quarters of the requests to productpage go to v1, the others to v2. */
  async function shift(baseEjectionTime: string): Promise<void> {
    const destinations = [
      { version: "v1", weight: 75 },
      { version: "v2", weight: 25 },
    ].map(({ version, weight }) => ({
      virtualDestination: { name: "reviews", namespace: "gloo-mesh", subset: { version } },
      weight,
    }));
    const policy = trafficPolicy({ trafficShift: { destinations } }, { destinationSelector: [service("productpage", "cluster-1")] });
    const spec = {
      hostname: "ratings.mesh.global",
      localized: {
        destinationSelectors: [{ kubeServiceMatcher: { labels: { app: "ratings" } } }],
        outlierDetection: { ...outlierDetection, baseEjectionTime },
      },
    };
    const own = Object.fromEntries(threeClusterNames.map((cluster) => [cluster, [freshConnections()]]));
    const inForce = await meshes().apply({ policies: [virtualDestination(spec), policy], own });
    expect(inForce.status("under-test")).toMatchObject({ state: "ACCEPTED" });
    expect(inForce.status("under-test").warnings).toBeUndefined();
  }

  const answers = () => meshes().request({ host, count: 400, concurrency: 4 });

  describe("a traffic shift to subsets of a virtual destination", () => {
    it("reaches pods of each subset alone, also behind the gateway of another cluster, and fails over within the subset", async () => {
      // Out for as long as the answers are counted, however slow the machine is.
      await shift("120s");
      const well = await answers();
      expect(Object.keys(well.servers).sort()).toEqual([local, remoteV2]);
      expect(well.status).toEqual({ 200: 400 });
      expectShare(sharePercent(well, local), 75, 400);
      await meshes().setServer(local, { status: 503 });
      await waitFor("no answers of the local server", async () => (await answers()).servers[local] === undefined);
      const ill = await answers();
      expect(Object.keys(ill.servers).sort()).toEqual([remote, remoteV2]);
      expectShare(sharePercent(ill, remote), 75, 400);
    });
  });
}
