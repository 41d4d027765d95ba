import { networkInterfaces } from "node:os";
import { Lease } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/plane/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, type ManagementServer, startAgent, startManagementServer } from "./harness/apps.ts";
import { clusterOf } from "./harness/clusters.ts";
import { describeReal } from "./harness/describeReal.ts";
import { type Fleet, startFleet } from "./harness/fleet.ts";
import { freePorts } from "./harness/freePorts.ts";
import { namespace } from "./harness/istioInstallation.ts";
import { type LoggingEnvoy, startLoggingEnvoy } from "./harness/loggingEnvoy.ts";
import { applyAll, installCrds } from "./harness/manifests.ts";
import { ourCrds } from "./harness/meshCluster.ts";
import { runMeshctl } from "./harness/meshctl.ts";
import { giveRelaySecrets } from "./harness/relaySecrets.ts";
import { waitFor } from "./harness/waitFor.ts";

/** An address of this machine that an EndpointSlice may have: API servers refuse loopback. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)?.address;

const at = { namespace: "gloo-mesh" };
const labels = { app: "gloo-mesh-agent" };
const containers = [{ name: "agent", image: "image" }];

// Two replicas of an agent on real API servers: the one that leads is on loopback, so that the other one can have the same port.
describeReal("the services of two replicas of an agent", (components) => {
  let fleet: Fleet<"management" | "cluster-1">;
  let management: Cluster;
  let first: Cluster;
  let server: ManagementServer;
  let [leading, standby]: (App | undefined)[] = [];
  const proxies: LoggingEnvoy[] = [];
  const workloadPorts: number[] = [];

  async function replica(name: string, host: string, replicaPort: number): Promise<App> {
    const [workloadPort = 0] = await freePorts(1);
    workloadPorts.push(workloadPort);
    const more = [
      "--leader-election",
      `--instance=${name}`,
      `--workload-port=${workloadPort}`,
      `--replica-host=${host}`,
      `--replica-port=${replicaPort}`,
    ];
    const { directory } = fleet;
    const where = { server: fleet.servers["cluster-1"], relayAddress: server.relayAddress, directory };
    const app = await startAgent({ ...where, cluster: "cluster-1", name, more });
    await app.ready();
    return app;
  }

  const logs = () => runMeshctl(["logs", "access", "--admin-address", server.adminUrl, "--status", "404", "-o", "json"]);
  const podsIn = (out: string) =>
    (JSON.parse(out) as { entries: readonly { readonly proxy: { readonly podName: string } }[] }).entries.map(({ proxy }) => proxy.podName);

  beforeAll(async () => {
    if (address === undefined) throw new Error("this machine has no address beside loopback, which a pod could have");
    fleet = await startFleet(components, ["management", "cluster-1"]);
    management = clusterOf(fleet.servers.management, "");
    first = clusterOf(fleet.servers["cluster-1"], "cluster-1");
    await installCrds(management, ourCrds());
    for (const cluster of [management, first]) await applyAll(cluster, [namespace("gloo-mesh")]);
    server = await startManagementServer({ server: fleet.servers.management, directory: fleet.directory });
    await server.app.ready();
    await giveRelaySecrets(management, first);
    const pods = ["agent-a", "agent-b"].map((name) => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { ...at, name, labels },
      spec: { containers },
    }));
    const slice = {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { ...at, name: "gloo-mesh-agent-1", labels: { "kubernetes.io/service-name": "gloo-mesh-agent" } },
      addressType: "IPv4",
      endpoints: [{ addresses: [address], targetRef: { kind: "Pod", name: "agent-b", ...at } }],
      ports: [{ name: "grpc", port: 9977 }],
    };
    await applyAll(first, [...pods, slice] as unknown as readonly AnyResource[]);
    const [port = 0] = await freePorts(1);
    leading = await replica("agent-a", "127.0.0.1", port);
    await waitFor("agent-a to lead", async () => {
      const lease = await first.get(Lease, { name: "gloo-mesh-agent", namespace: "gloo-mesh" });
      return lease?.spec?.holderIdentity?.startsWith("agent-a-") === true;
    });
    standby = await replica("agent-b", address, port);
  });

  afterAll(async () => {
    await Promise.all([...proxies.map((proxy) => proxy.stop()), ...[leading, standby, server?.app].map((app) => app?.program.stop())]);
    await fleet?.stop();
  });

  it("have access logs that are one answer for meshctl, and a replica that has gone is named", async () => {
    for (const [i, sinkPort] of workloadPorts.entries()) {
      const proxy = await startLoggingEnvoy({ envoy: components.envoy, directory: fleet.directory, sinkPort, pod: `reviews-${i + 1}` });
      proxies.push(proxy);
      expect(await proxy.request("/missing", i + 1)).toContain(404);
    }
    const { code, err } = await waitFor("entries of both", async () => {
      const answer = await logs();
      return podsIn(answer.out).sort().join() === "reviews-1,reviews-2,reviews-2" && answer;
    });
    expect([code, err]).toEqual([0, ""]);
    await standby?.program.kill();
    const after = await logs();
    expect(podsIn(after.out)).toEqual(["reviews-1"]);
    expect(after.code).toBe(3);
    expect(after.err).toContain("cluster-1: replicas of its agent that did not answer: agent-b");
  });
});
