import { KubernetesCluster, Secret, TrafficPolicy, VirtualService } from "@isthmus/api";
import { createRequest, createRoot, issueClientCertificate, issueServerCertificate } from "@isthmus/certificates";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/plane/ports";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { clusterOf } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { type Fleet, startFleet } from "../harness/fleet.ts";
import type { ChartValues } from "../harness/helm.ts";
import { applyAll } from "../harness/manifests.ts";
import { fillMeshCluster } from "../harness/meshCluster.ts";
import { waitFor } from "../harness/waitFor.ts";
import { type InstalledProgram, isServing, startInstalled } from "./installedProgram.ts";
import { namespace, release, secret } from "./release.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const AUTHORITY = "mesh.example.com";
const WITHOUT_REDIS = { redis: { deployment: { enabled: false } } };

// One after the other in the same fleet: the certificates of the first are those of the server in the others too.
describeReal("documented setups, installed with Helm and run", (components) => {
  let fleet: Fleet<"management" | "east">;
  let management: Cluster;
  let east: Cluster;
  let controllers: AbortController;
  const ends: Promise<void>[] = [];
  const running: InstalledProgram[] = [];

  beforeAll(async () => {
    controllers = new AbortController();
    fleet = await startFleet(components, ["management", "east"], { audit: true });
    management = clusterOf(fleet.servers.management, "");
    east = clusterOf(fleet.servers.east, "east");
    const filled = await Promise.all(
      [clusterOf(fleet.servers.management, "mgmt"), east].map((cluster) => fillMeshCluster(cluster, components, controllers.signal)),
    );
    ends.push(...filled.map(({ ended }) => ended));
  }, 300_000);
  afterEach(async () => {
    await Promise.all(running.splice(0).map(({ program }) => program.stop()));
    const registered = await management.list(KubernetesCluster, { namespace });
    for (const { apiVersion, kind, metadata } of registered.items)
      await management.delete({ apiVersion, kind, name: metadata.name, namespace, clusterName: "" });
  });
  afterAll(async () => {
    controllers?.abort();
    await Promise.allSettled(ends);
    await fleet?.stop();
  });

  async function startServer(values: ChartValues): Promise<InstalledProgram> {
    await release({ components, server: fleet.servers.management, directory: fleet.directory }, "gloo-mesh-mgmt-server", values);
    const server = await startInstalled({
      server: fleet.servers.management,
      namespace,
      deployment: "gloo-mesh-mgmt-server",
      bin: "mgmt-server/bin/mgmt-server.js",
      pod: "mgmt-server",
      directory: fleet.directory,
      here: ([port]) => ["--host=127.0.0.1", `--port=${port}`],
    });
    running.push(server);
    await isServing(server, "/readyz");
    return server;
  }

  async function startAgent(values: ChartValues): Promise<InstalledProgram> {
    await release({ components, server: fleet.servers.east, directory: fleet.directory }, "gloo-mesh-agent", values);
    const agent = await startInstalled({
      server: fleet.servers.east,
      namespace,
      deployment: "gloo-mesh-agent",
      bin: "agent/bin/agent.js",
      pod: "agent",
      directory: fleet.directory,
      here: () => [],
    });
    running.push(agent);
    return agent;
  }

  function policy(requestTimeout: string): AnyResource {
    const { apiVersion, kind } = TrafficPolicy;
    const reviews = { kubeServiceMatcher: { namespaces: ["bookinfo"], labels: { app: "reviews" } } };
    const spec = { destinationSelector: [reviews], policy: { requestTimeout } };
    return { apiVersion, kind, metadata: { name: "timeout", namespace }, spec } as unknown as AnyResource;
  }

  async function isApplied(cluster: Cluster, timeout: string): Promise<void> {
    await applyAll(management, [policy(timeout)]);
    await waitFor("the route", async () => {
      const route = await cluster.get(VirtualService, { name: "reviews", namespace: "bookinfo" });
      return route?.spec?.http?.[0]?.timeout === timeout;
    });
    for (const server of [fleet.servers.management, fleet.servers.east]) expect(server.planeRefusals()).toEqual([]);
  }

  it("your own certificates, without a signing authority, under another authority", async () => {
    const now = Date.now();
    const root = await createRoot({ commonName: "users-root", now });
    const server = await issueServerCertificate(root, { dnsNames: [AUTHORITY], now });
    const request = await createRequest("east");
    const client = await issueClientCertificate(root, request.request, { dnsNames: ["east"], now });
    const trusted = secret("relay-root-tls-secret", { "ca.crt": root.certificate });
    await applyAll(management, [trusted, secret("relay-server-tls-secret", { "tls.crt": server.certificate, "tls.key": server.key })]);
    await applyAll(east, [trusted, secret("relay-client-tls-secret", { "tls.crt": client, "tls.key": request.key })]);
    // Nobody registers with a token here: an operator does.
    const { apiVersion, kind } = KubernetesCluster;
    await applyAll(management, [{ apiVersion, kind, metadata: { name: "east", namespace }, spec: {} } as AnyResource]);
    const relay = { disableCaCertGeneration: true, disableCa: true };
    const { relayAddress } = await startServer({ ...WITHOUT_REDIS, relay });
    await startAgent({ relay: { cluster: "east", serverAddress: relayAddress, authority: AUTHORITY } });
    await isApplied(east, "2s");
    for (const name of ["relay-generated-identity-secret", "relay-tls-signing-secret"]) {
      expect(await management.get(Secret, { name, namespace })).toBeUndefined();
    }
  });

  it("TLS with a token as a variable on each call, and an agent that may write to one namespace", async () => {
    const extraEnvs = { RELAY_TOKEN: { value: TOKEN } };
    const relay = { disableClientCertificateAuthentication: true };
    const { relayAddress } = await startServer({ ...WITHOUT_REDIS, relay, extraEnvs });
    const limits = { writeNamespaces: ["bookinfo"] };
    await startAgent({ relay: { ...relay, cluster: "east", serverAddress: relayAddress, authority: AUTHORITY }, extraEnvs, limits });
    await isApplied(east, "3s");
  });

  it("a server that manages its own cluster, and may write to one namespace of it", async () => {
    await startServer({ ...WITHOUT_REDIS, singleCluster: "mgmt", writeNamespaces: ["bookinfo"] });
    await isApplied(management, "4s");
  });
});
