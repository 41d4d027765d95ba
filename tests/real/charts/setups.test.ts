import { KubernetesCluster, Secret, TrafficPolicy, VirtualService } from "@isthmus/api";
import {
  certificateFacts,
  createAuthority,
  createRequest,
  createRoot,
  issueClientCertificate,
  issueServerCertificate,
  type KeyedCertificate,
} from "@isthmus/certificates";
import type { AnyResource } from "@isthmus/core";
import type { Cluster } from "@isthmus/ports";
import { itAtNight } from "@isthmus/testing/atNight";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { anyKind, clusterOf } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { type Fleet, startFleet } from "../harness/fleet.ts";
import type { ChartValues } from "../harness/helm.ts";
import { applyAll } from "../harness/manifests.ts";
import { fillMeshCluster } from "../harness/meshCluster.ts";
import { waitFor } from "../harness/waitFor.ts";
import { type InstalledProgram, isServing, startInstalled } from "./installedProgram.ts";
import { namespace, release, secret } from "./release.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const OTHER_TOKEN = "fedcba9876543210fedcba9876543210";
const Lease = anyKind("coordination.k8s.io/v1", "Lease", "leases");
const AUTHORITY = "mesh.example.com";
const WITHOUT_REDIS = { redis: { deployment: { enabled: false } } };

// One after the other in the same fleet: the certificates of the first are those of the server in the others too.
describeReal("documented setups, installed with Helm and run", (components) => {
  let fleet: Fleet<"management" | "east">;
  let management: Cluster;
  let east: Cluster;
  let controllers: AbortController;
  /** Of the users' own PKI. */
  let root: KeyedCertificate;
  const ends: Promise<void>[] = [];
  const running: InstalledProgram[] = [];

  beforeAll(async () => {
    controllers = new AbortController();
    root = await createRoot({ commonName: "users-root", now: Date.now() });
    fleet = await startFleet(components, ["management", "east"], { crds: "all" });
    management = clusterOf(fleet.servers.management, "");
    east = clusterOf(fleet.servers.east, "east");
    const filled = await Promise.all(
      [clusterOf(fleet.servers.management, "mgmt"), east].map((cluster) => fillMeshCluster(cluster, components, controllers.signal)),
    );
    ends.push(...filled.map(({ ended }) => ended));
  });
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
      deployment: values["legacyNames"] === true ? "enterprise-networking" : "gloo-mesh-mgmt-server",
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
    return startReplica("agent", values);
  }

  async function startReplica(pod: string, values: ChartValues): Promise<InstalledProgram> {
    const agent = await startInstalled({
      server: fleet.servers.east,
      namespace,
      deployment: values["legacyNames"] === true ? "enterprise-agent" : "gloo-mesh-agent",
      bin: "agent/bin/agent.js",
      pod,
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

  /** Lets the agent register with the shared token, which admits neither a name nor a cluster twice: an operator takes them out of the record. */
  async function asNew(): Promise<void> {
    for (const [cluster, name] of [
      [management, "relay-registered-names-secret"],
      [east, "relay-client-tls-secret"],
    ] as const) {
      if ((await cluster.get(Secret, { name, namespace })) === undefined) continue;
      await cluster.delete({ apiVersion: Secret.apiVersion, kind: Secret.kind, name, namespace, clusterName: "" });
    }
  }

  it("your own certificates, without a signing authority, under another authority", async () => {
    const now = Date.now();
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

  it("your own certificates with your own signing authority and token: agents register", async () => {
    const now = Date.now();
    const signing = await createAuthority(root, { commonName: "users-signing", now });
    const authority = { "tls.crt": signing.certificate, "tls.key": signing.key, "ca.crt": root.certificate };
    const token = secret("relay-identity-token-secret", { token: TOKEN });
    await applyAll(management, [secret("relay-tls-signing-secret", authority), token]);
    await applyAll(east, [token]);
    await asNew();
    const { relayAddress } = await startServer({
      ...WITHOUT_REDIS,
      relay: { disableCaCertGeneration: true, disableTokenGeneration: true },
    });
    await startAgent({ relay: { cluster: "east", serverAddress: relayAddress, authority: AUTHORITY } });
    await isApplied(east, "5s");
    const issued = await east.get(Secret, { name: "relay-client-tls-secret", namespace });
    const { issuer } = certificateFacts(Buffer.from(issued?.data?.["tls.crt"] ?? "", "base64").toString());
    expect(issuer).toContain("users-signing");
    expect(await management.get(Secret, { name: "relay-generated-identity-secret", namespace })).toBeUndefined();
  });

  it("the token as a variable on both sides, with client certificates: no Secret has it", async () => {
    const { apiVersion, kind } = Secret;
    for (const cluster of [management, east])
      await cluster.delete({ apiVersion, kind, name: "relay-identity-token-secret", namespace, clusterName: "" });
    await asNew();
    const extraEnvs = { RELAY_TOKEN: { value: OTHER_TOKEN } };
    const { relayAddress } = await startServer({
      ...WITHOUT_REDIS,
      relay: { disableCaCertGeneration: true },
      extraEnvs,
    });
    const relay = { cluster: "east", serverAddress: relayAddress, authority: AUTHORITY };
    const stranger = await startAgent({ relay, extraEnvs: { RELAY_TOKEN: { value: TOKEN } } });
    await waitFor("another token to be refused", () => stranger.program.output().includes("no connection to the management server"));
    expect(await east.get(Secret, { name: "relay-client-tls-secret", namespace })).toBeUndefined();
    await stranger.program.stop();
    await startAgent({ relay, extraEnvs });
    await isApplied(east, "8s");
    expect(await east.get(Secret, { name: "relay-client-tls-secret", namespace })).toBeDefined();
    for (const cluster of [management, east]) {
      expect(await cluster.get(Secret, { name: "relay-identity-token-secret", namespace })).toBeUndefined();
    }
  });

  it("legacy names, the token from another Secret on both sides, two agents: one leads, the other takes over", async () => {
    const ours = secret("our-token", { value: OTHER_TOKEN });
    for (const cluster of [management, east]) await applyAll(cluster, [ours]);
    await asNew();
    const tokenSecret = { name: "our-token", key: "value" };
    const legacy = { legacyNames: true };
    const { relayAddress } = await startServer({ ...WITHOUT_REDIS, ...legacy, leaderElection: true, relay: { tokenSecret } });
    const relay = { cluster: "east", serverAddress: relayAddress, authority: AUTHORITY, tokenSecret };
    const first = await startAgent({ ...legacy, relay, replicas: 2 });
    await isApplied(east, "6s");
    await startReplica("agent-2", legacy);
    expect((await management.list(Lease, { namespace })).items.map(({ metadata }) => metadata.name)).toContain("enterprise-networking");
    const holder = async () => {
      const lease = await east.get(Lease, { name: "enterprise-agent", namespace });
      return (lease as { readonly spec?: { readonly holderIdentity?: string } } | undefined)?.spec?.holderIdentity;
    };
    const leader = await holder();
    expect(leader).toMatch(/^agent-/);
    await first.program.stop();
    await waitFor("the other to lead", async () => ((await holder()) ?? leader) !== leader && (await holder()) !== "");
    await isApplied(east, "7s");
  });

  itAtNight("a server that manages its own cluster, and may write to one namespace of it", async () => {
    await startServer({ ...WITHOUT_REDIS, singleCluster: "mgmt", writeNamespaces: ["bookinfo"] });
    await isApplied(management, "4s");
  });
});
