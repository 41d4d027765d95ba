import { readFileSync } from "node:fs";
import { KubernetesCluster, Mesh, Secret, VirtualService } from "@isthmus/api";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { afterAll, beforeAll, expect, it } from "vitest";
import { meshRef, service, trafficPolicy } from "../dataplane/harness/resources.ts";
import type { ClusterName, Testbed } from "../dataplane/harness/testbed.ts";
import { clusterAt } from "../harness/clusters.ts";
import type { Components } from "../harness/components.ts";
import { applyAll } from "../harness/manifests.ts";
import { giveRelaySecrets } from "../harness/relaySecrets.ts";
import { waitFor } from "../harness/waitFor.ts";
import { type InstalledProgram, type InstalledServer, startInstalled } from "./installedProgram.ts";
import { namespace, release } from "./release.ts";

const AUTHORITY = "mesh.example.com";
const GATEWAY = "cluster-1/istio-ingressgateway";
// The load balancer of the testbed keeps the port, so this is that of the gateway's container for port 443 of its Service.
const GATEWAY_ADDRESS = "10.70.1.1:8443";
// Of the control plane of cluster-1, where the server runs.
const SERVER_IP = "10.71.0.2";
const TO_SERVER = "outbound.9900.*gloo-mesh-mgmt-server.*upstream_cx_total";

/** One story: each test continues where the one before it ended. The server runs in cluster-1, an agent in cluster-2. */
export function ingressCases(started: () => Testbed, components: Components): void {
  let testbed: Testbed;
  let management: Cluster;
  let remote: Cluster;
  let agent: InstalledProgram;
  const running: InstalledProgram[] = [];

  beforeAll(async () => {
    testbed = started();
    management = clusterAt(testbed.kubeconfig("cluster-1"), "");
    remote = clusterAt(testbed.kubeconfig("cluster-2"), "cluster-2");
    await release(target("cluster-1"), "gloo-mesh-crds");
    const serviceAccounts = { serviceType: "ClusterIP", ingress: { enabled: true, authority: AUTHORITY } };
    await release(target("cluster-1"), "gloo-mesh-mgmt-server", { ...serviceAccounts, redis: { deployment: { enabled: false } } });
    await applyAll(management, [endpointsOfServer()]);
    await start("cluster-1", "gloo-mesh-mgmt-server", "mgmt-server/bin/mgmt-server.js");
    await waitFor("the server's Secrets", () => management.get(Secret, { name: "relay-identity-token-secret", namespace }));
  }, 300_000);
  afterAll(async () => {
    await Promise.all(running.map(({ program }) => program.stop()));
  });

  function target(cluster: ClusterName) {
    return { components, server: { kubeconfig: testbed.kubeconfig(cluster) }, directory: testbed.directory };
  }

  async function start(cluster: ClusterName, deployment: string, bin: "agent/bin/agent.js" | "mgmt-server/bin/mgmt-server.js") {
    const { directory } = testbed;
    const kubeconfig = testbed.kubeconfig(cluster);
    const server: InstalledServer = { name: cluster, url: apiServerUrl(kubeconfig), kubeconfig };
    const network = { ...testbed.network(cluster), apiServerUrl: apiServerUrl(testbed.kubeconfigInside(cluster)) };
    const started = await startInstalled({ server, namespace, deployment, bin, pod: deployment, directory, here: () => [], network });
    running.push(started);
    return started;
  }

  async function startAgent(authority: string): Promise<InstalledProgram> {
    await release(target("cluster-2"), "gloo-mesh-agent", { relay: { cluster: "cluster-2", serverAddress: GATEWAY_ADDRESS, authority } });
    return start("cluster-2", "gloo-mesh-agent", "agent/bin/agent.js");
  }

  it("refuses an authority that is not its own: the gateway closes the connection, the agent says so", async () => {
    await release(target("cluster-2"), "gloo-mesh-crds");
    await applyAll(remote, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }]);
    await giveRelaySecrets(management, remote);
    const refusedBefore = await testbed.counter(GATEWAY, "no_filter_chain_match");
    agent = await startAgent("other.example.com");
    await waitFor("the gateway to refuse it", async () => (await testbed.counter(GATEWAY, "no_filter_chain_match")) >= refusedBefore + 2);
    await waitFor("a message of the agent", () => agent.program.output().includes("check --relay-authority"));
    expect(await testbed.counter(GATEWAY, TO_SERVER)).toBe(0);
    expect((await management.list(KubernetesCluster, { namespace })).items).toEqual([]);
    expect(await remote.get(Secret, { name: "relay-client-tls-secret", namespace })).toBeUndefined();
    await agent.program.stop();
  });

  it("passes an agent with the server's authority: it registers, gets a certificate, and its cluster is discovered", async () => {
    agent = await startAgent(AUTHORITY);
    await waitFor("the cluster to be connected", async () => {
      const found = await management.get(KubernetesCluster, { name: "cluster-2", namespace });
      return found?.status?.conditions?.find(({ type }) => type === "Connected")?.status === "True";
    });
    expect(await remote.get(Secret, { name: "relay-client-tls-secret", namespace })).toBeDefined();
    await waitFor("its Mesh", () => management.get(Mesh, meshRef("cluster-2")));
    expect(await testbed.counter(GATEWAY, TO_SERVER)).toBeGreaterThan(0);
  });

  it("carries what users write to the proxies of the cluster, and the status back", async () => {
    const abort = trafficPolicy(
      { faultInjection: { abort: { httpStatus: 418 } } },
      { destinationSelector: [service("reviews", "cluster-2")] },
      { name: "abort" },
    );
    const host = "reviews.bookinfo.svc.cluster.local";
    const statusesNow = async () => (await testbed.request({ from: "cluster-2", host, count: 10, warmup: 24 })).status;
    await waitFor("answers", async () => (await statusesNow())["200"] === 10);
    await applyAll(management, [abort]);
    await waitFor("the rule to be in force", async () => (await statusesNow())["418"] === 10);
    expect(await remote.get(VirtualService, { name: "reviews", namespace: "bookinfo" })).toBeDefined();
  });
}

/** The server's process, as the endpoint that a controller would make of its pod. */
function endpointsOfServer(): AnyResource {
  const labels = { "kubernetes.io/service-name": "gloo-mesh-mgmt-server" };
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "gloo-mesh-mgmt-server", namespace, labels },
    addressType: "IPv4",
    ports: [{ name: "tls-grpc", port: 9900, protocol: "TCP" }],
    endpoints: [{ addresses: [SERVER_IP], conditions: { ready: true } }],
  } as AnyResource;
}

function apiServerUrl(kubeconfig: string): string {
  const { clusters } = JSON.parse(readFileSync(kubeconfig, "utf8")) as { clusters: readonly [{ cluster: { server: string } }] };
  return clusters[0].cluster.server;
}
