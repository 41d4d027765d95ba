import { setTimeout as sleep } from "node:timers/promises";
import { startControllers } from "@isthmus/simulator";
import { expect, it } from "vitest";
import { anyKind, clock, clusterAt, silent } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { startFleet } from "./harness/fleet.ts";
import { namespace } from "./harness/istioInstallation.ts";
import { applyAll } from "./harness/manifests.ts";
import { waitFor } from "./harness/waitFor.ts";

const Deployment = anyKind("apps/v1", "Deployment", "deployments");
const labels = { app: "web" };
const podSpec = { containers: [{ name: "web", image: "web" }] };
const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "web" },
  spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
};
const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "web" },
  spec: { type: "LoadBalancer", selector: labels, ports: [{ name: "http", port: 80 }] },
};
const ADDRESSES = { pods: "10.0.0.1", nodes: "172.18.0.2", loadBalancers: "172.19.0.1" };
/** Each pass takes milliseconds: who does not come to rest writes dozens of times meanwhile. */
const MEANWHILE_MS = 2_000;

describeReal("simulated controllers on a real API server", (components) => {
  it("come to rest: what they wrote says what they want, however the API server stores it", async () => {
    const fleet = await startFleet(components, ["one"]);
    const stopping = new AbortController();
    // As the plane, whose requests the audit log has.
    const cluster = clusterAt(fleet.servers.one.planeKubeconfig, "one");
    const ended = startControllers(cluster, { clock, log: silent, addresses: ADDRESSES }, stopping.signal);
    try {
      await applyAll(cluster, [namespace("web"), deployment, service]);
      await waitFor("two pods to be ready", async () => {
        const found = await cluster.get(Deployment, { name: "web", namespace: "web" });
        return (found as { status?: { readyReplicas?: number } } | undefined)?.status?.readyReplicas === 2;
      });
      await sleep(MEANWHILE_MS);
      const before = fleet.servers.one.planeWrites().length;
      await sleep(MEANWHILE_MS);
      expect(
        fleet.servers.one
          .planeWrites()
          .slice(before)
          .map(({ what }) => what),
      ).toEqual([]);
    } finally {
      stopping.abort();
      await ended;
      await fleet.stop();
    }
  });
});
