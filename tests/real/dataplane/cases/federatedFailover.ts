import type { AnyResource } from "@isthmus/core";
import { itAtNight } from "@isthmus/testing/atNight";
import { afterEach, describe, expect, it } from "vitest";
import type { InForce, Meshes } from "../harness/meshes.ts";
import { freshConnections, meshRef, virtualMesh } from "../harness/resources.ts";
import { threeClusterNames } from "../harness/testbed.ts";
import { gateway, outlierDetection, probesOf, server } from "./failoverProbes.ts";

/** What clients have called it by before there was a second cluster. */
const host = "reviews.bookinfo.svc.cluster.local";

/** Without any VirtualDestination. */
export function federatedFailoverCases(meshes: () => Meshes): void {
  const { answeredBy, atGateways, heal } = probesOf(meshes, host);
  afterEach(heal);

  /** With one request for each connection: connections that are kept show what was. */
  async function apply(federation: object, others: readonly AnyResource[] = []): Promise<InForce> {
    const own = Object.fromEntries(threeClusterNames.map((cluster) => [cluster, [freshConnections()]]));
    const spec = { meshes: threeClusterNames.map(meshRef), mtlsConfig: { shared: {} }, federation: { selectors: [{}], ...federation } };
    const inForce = await meshes().apply({ virtualMesh: virtualMesh(spec), policies: others, own });
    expect(inForce.status("virtual-mesh")).toMatchObject({ state: "ACCEPTED" });
    return inForce;
  }

  describe("a federated service of several clusters", () => {
    itAtNight("stays in its cluster without the switch, also when nothing answers there", async () => {
      await apply({});
      await answeredBy("cluster-1");
      await meshes().setServer(server("cluster-1"), { status: 503 });
      const { status } = await meshes().request({ host, count: 20 });
      expect(status).toEqual({ 503: 20 });
    });

    itAtNight("is answered by the client's own cluster while that is well", async () => {
      await apply({ failover: { outlierDetection } });
      for (const cluster of ["cluster-1", "cluster-2"] as const) {
        const { servers: counts } = await meshes().request({ host, from: cluster, count: 100 });
        expect(counts).toEqual({ [server(cluster)]: 100 });
      }
    });

    it.each([
      { failure: "answers 503", ill: { status: 503 }, well: {} },
      { failure: "stops listening", ill: { isStopped: true }, well: { isStopped: false } },
    ])("is answered by other clusters while the local server $failure, and by the local one again afterwards", async ({ ill, well }) => {
      await apply({ failover: { outlierDetection } });
      await answeredBy("cluster-1");
      await meshes().setServer(server("cluster-1"), ill);
      await meshes().setServer(server("cluster-3"), ill);
      await answeredBy("cluster-2");
      await meshes().setServer(server("cluster-1"), well);
      await answeredBy("cluster-1");
    });

    it("sends no request from gateway to gateway when every server fails, and asks its own cluster again", async () => {
      await apply({ failover: { outlierDetection } });
      await answeredBy("cluster-1");
      for (const cluster of threeClusterNames) await meshes().refuseConnections(server(cluster), true);
      const before = await atGateways();
      const { status } = await meshes().request({ host, count: 60 });
      const connections = (await atGateways()) - before;
      for (const cluster of threeClusterNames) await meshes().refuseConnections(server(cluster), false);
      expect(status).toEqual({ 503: 60 });
      expect(connections).toBeGreaterThan(0);
      // A sidecar tries each request three times.
      expect(connections).toBeLessThanOrEqual(180);
      await answeredBy("cluster-1");
    });

    itAtNight("passes over a gateway that is down", async () => {
      await apply({ failover: { outlierDetection } });
      await meshes().setServer(server("cluster-1"), { status: 503 });
      await meshes().refuseConnections(gateway("cluster-3"), true);
      try {
        await answeredBy("cluster-2");
      } finally {
        await meshes().refuseConnections(gateway("cluster-3"), false);
      }
    });
  });
}
