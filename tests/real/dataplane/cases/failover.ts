import { afterEach, describe, expect, it } from "vitest";
import { waitFor } from "../../harness/waitFor.ts";
import type { InForce, Meshes } from "../harness/meshes.ts";
import { freshConnections, virtualDestination } from "../harness/resources.ts";
import { type ClusterName, type RequestOptions, threeClusterNames } from "../harness/testbed.ts";

const host = "reviews.mesh.global";
/** Two errors and an endpoint is out, for 4 s. */
const outlierDetection = { consecutiveErrors: 2, interval: "1s", baseEjectionTime: "4s" };
const everywhere = [{ kubeServiceMatcher: { labels: { app: "reviews" } } }];
const server = (cluster: ClusterName) => `${cluster}/reviews-v1`;
const service = (clusterName: ClusterName) => ({ kubeService: { name: "reviews", namespace: "bookinfo", clusterName } });

export function failoverCases(meshes: () => Meshes): void {
  /** With a virtual destination, and with one request for each connection: connections that are kept show what was. */
  async function apply(spec: object): Promise<InForce> {
    const own = Object.fromEntries(threeClusterNames.map((cluster) => [cluster, [freshConnections()]]));
    const inForce = await meshes().apply({ policies: [virtualDestination({ hostname: host, ...spec })], own });
    expect(inForce.status("reviews")).toMatchObject({ state: "ACCEPTED" });
    return inForce;
  }

  /** The servers that answer, with how often. Each request is a connection of its own. */
  async function servers(options: Partial<RequestOptions> = {}): Promise<Readonly<Record<string, number>>> {
    const { servers: counts } = await meshes().request({ host, count: 20, ...options });
    return counts;
  }

  /** Until all of 20 requests are answered by one server. */
  async function answeredBy(cluster: ClusterName, from: ClusterName = "cluster-1"): Promise<void> {
    await waitFor(`answers of ${server(cluster)} to ${from}`, async () => {
      const counts = await servers({ from });
      if (counts[server(cluster)] === 20) return true;
      throw new Error(JSON.stringify(counts));
    });
  }

  afterEach(async () => {
    for (const cluster of threeClusterNames) await meshes().setServer(server(cluster), {});
  });

  describe("a localized virtual destination", () => {
    it("is answered by the client's own cluster", async () => {
      await apply({ localized: { destinationSelectors: everywhere, outlierDetection } });
      await answeredBy("cluster-1");
      await answeredBy("cluster-2", "cluster-2");
    });

    it("is answered by another cluster while the local server answers 503, and by the local one again afterwards", async () => {
      await apply({
        localized: { destinationSelectors: everywhere, failoverDirectives: [to("us-east", "eu-central", "us-west")], outlierDetection },
      });
      await answeredBy("cluster-1");
      await meshes().setServer(server("cluster-1"), { status: 503 });
      await answeredBy("cluster-3");
      await meshes().setServer(server("cluster-1"), {});
      await answeredBy("cluster-1");
    });
  });

  describe("a static virtual destination", () => {
    it("is answered by the first that works, in its order, from each cluster", async () => {
      await apply({
        static: { destinations: [service("cluster-2"), service("cluster-3"), service("cluster-1")] },
        localized: { outlierDetection },
      });
      await answeredBy("cluster-2", "cluster-1");
      await answeredBy("cluster-2", "cluster-2");
      await meshes().setServer(server("cluster-2"), { status: 503 });
      await answeredBy("cluster-3", "cluster-1");
      await answeredBy("cluster-3", "cluster-2");
      await meshes().setServer(server("cluster-3"), { status: 503 });
      await answeredBy("cluster-1", "cluster-1");
      await answeredBy("cluster-1", "cluster-2");
    });
  });
}

function to(from: string, ...regions: readonly string[]): object {
  return { from: { region: from }, to: regions.map((region) => ({ region })) };
}
