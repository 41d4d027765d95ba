import { type AddressInfo, createServer } from "node:net";
import { createRoot, issueServerCertificate } from "@isthmus/certificates";
import { refOf, resourceKeyOf, UsageError } from "@isthmus/core";
import { afterEach, describe, expect, test } from "vitest";
import { createServerIdentity, DEFAULT_AUTHORITY } from "../src/index.ts";
import { certificateOf, rawConnect } from "./rawClient.ts";
import {
  credentialsIn,
  hasty,
  type RealAgentOptions,
  type RealServerOptions,
  realAgent,
  realServer,
  registrationsOf,
  until,
} from "./realRelay.ts";
import { byKey, KINDS, service, type TestAgent, virtualService, wantedSet } from "./sessionFleet.ts";

const DAY = 86_400_000;
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function server(options: RealServerOptions = {}) {
  const started = await realServer(options);
  stops.push(started.stop);
  return started;
}

function agent(options: RealAgentOptions): ReturnType<typeof realAgent> {
  const started = realAgent({ clock: hasty, ...options });
  stops.push(started.stop);
  return started;
}

/** What an agent waits for, once it does. */
async function complaintOf({ states }: TestAgent): Promise<string> {
  await until(() => states.some((state) => state.startsWith("waiting")), "the agent waits");
  return states.find((state) => state.startsWith("waiting")) ?? "";
}

function isConnected({ states }: TestAgent): boolean {
  return states.at(-1)?.startsWith("connected") ?? false;
}

describe("an agent", () => {
  test("registers with the token, comes back with its certificate, and both ways work", async () => {
    const { address, identity, known, registrations, link, acknowledged, events } = await server();
    const credentials = credentialsIn();
    const { link: agentLink, applied, states } = agent({ address, root: identity.root, credentials });
    agentLink.observe({ put: [service("cluster-1", "reviews")], remove: [] });
    agentLink.synced(KINDS, []);
    await until(() => events.length === 2, "the cluster is synced");
    expect([...(known.get("cluster-1")?.keys() ?? [])]).toEqual(["/Service|reviews.bookinfo.cluster-1"]);
    expect(registrations.known.get("cluster-1")).toBe("uid-of-cluster-1");
    expect(credentials.saves).toBe(1);
    expect(states.map((state) => state.split(":")[0])).toEqual(["connecting", "registering", "connecting", "connected"]);

    const wanted = virtualService("cluster-1", "reviews");
    link.setDesired("cluster-1", wantedSet([wanted]), { evidenceOf: () => ({ reason: "InputChanged", inputs: [refOf(wanted)] }) });
    await until(() => acknowledged.length === 1, "the desired set is acknowledged");
    expect([...applied.keys()]).toEqual([resourceKeyOf(refOf(wanted))]);
  });

  test("that starts again needs no token", async () => {
    const { address, identity, events } = await server();
    const credentials = credentialsIn();
    const first = agent({ address, root: identity.root, credentials });
    await until(() => isConnected(first), "the first agent is connected");
    await first.stop();
    await until(() => events.length === 2, "the first agent is gone");
    const second = agent({ address, root: identity.root, credentials, token: undefined });
    await until(() => isConnected(second), "the second agent is connected");
    expect(credentials.saves).toBe(1);
    expect(events).toEqual(["connected cluster-1", "disconnected cluster-1: the agent ended the connection", "connected cluster-1"]);
  });

  test("outlives a restart of the server, on the same port and with the same certificates", async () => {
    const { identity, grpc, registrations, stop, address, link } = await server();
    const started = agent({ address, root: identity.root });
    started.link.observe({ put: [service("cluster-1", "reviews")], remove: [] });
    started.link.synced(KINDS, []);
    await until(() => isConnected(started), "the agent is connected");
    link.setDesired("cluster-1", wantedSet([virtualService("cluster-1", "a")]), {
      evidenceOf: () => ({
        reason: "InputChanged",
        inputs: [refOf(service("cluster-1", "a"))],
      }),
    });
    await until(() => started.applied.size === 1, "something is applied");
    await stop();
    expect(await complaintOf(started)).toBe("waiting: the management server is stopping");
    const next = await server({ identity, registrations, port: grpc.port });
    await until(() => next.events.length === 2, "the agent is back and synced");
    expect(next.known.get("cluster-1")?.size).toBe(1);
    expect(started.applied.size).toBe(1);
  });

  test("reports 5 MB in parts", async () => {
    const { address, identity, known, synced } = await server();
    const started = agent({ address, root: identity.root });
    const resources = Array.from({ length: 2000 }, (_, i) => service("cluster-1", `service-${i}`, { spec: { text: `${i} `.repeat(600) } }));
    started.link.observe({ put: resources, remove: [] });
    started.link.synced(KINDS, []);
    await until(() => synced.has("cluster-1"), "the cluster is synced");
    expect(new Map([...(known.get("cluster-1") ?? [])].sort())).toEqual(new Map([...byKey(resources)].sort()));
  });

  test("renews its certificate in time and continues with the new one", async () => {
    const { address, identity, events, synced } = await server({ agentCertificateLifetimeMs: () => 4_000 });
    const credentials = credentialsIn();
    const started = agent({ address, root: identity.root, credentials });
    started.link.synced(KINDS, []);
    await until(() => credentials.saves >= 2, "the certificate is renewed");
    await until(() => events.filter((event) => event.startsWith("connected")).length >= 2, "the agent connected with it");
    await until(() => synced.has("cluster-1") && isConnected(started), "all is well");
  });

  test("keeps what it was issued until it can be stored, as what bought it may not buy another one", async () => {
    const { address, identity, grpc } = await server();
    const store = credentialsIn();
    let isAway = true;
    const credentials = {
      load: () => store.load(),
      save: async (issued: Parameters<typeof store.save>[0]) => {
        if (isAway) throw new Error("the API server is away");
        await store.save(issued);
      },
    };
    const started = agent({ address, root: identity.root, credentials });
    expect(await complaintOf(started)).toBe("waiting: cannot access the store for certificates: the API server is away");
    isAway = false;
    await until(() => isConnected(started), "the agent is connected");
    const registered = grpc.metrics().find(({ labels }) => labels["call"] === "Register" && labels["code"] === "OK");
    expect([registered?.value, store.saves]).toEqual([1, 1]);
  });

  test("whose stored certificate has expired, is for another cluster or is unreadable registers again", async () => {
    const { address, identity, registrations } = await server();
    const signing = identity.signing ?? (await createRoot({ commonName: "never", now: 0 }));
    const expired = await certificateOf(signing, { dnsNames: ["cluster-1"], now: Date.now() - DAY, lifetimeMs: 1000 });
    const foreign = await certificateOf(signing, { dnsNames: ["cluster-2"], now: Date.now() });
    for (const [stored, why] of [
      [{ ...expired, root: identity.root }, /expired at/],
      [{ ...foreign, root: identity.root }, /is for cluster-2, not for cluster-1/],
      [{ certificate: "none", key: "none", root: identity.root }, /cannot parse the stored certificate/],
    ] as const) {
      // Each time as for a new name: without a certificate of its own the shared token opens no other.
      registrations.known.clear();
      const credentials = credentialsIn(stored);
      const started = agent({ address, root: identity.root, credentials });
      await until(() => isConnected(started), "the agent is connected");
      expect(started.states.find((state) => state.startsWith("registering"))).toMatch(why);
      await started.stop();
    }
    expect(registrations.known.size).toBe(1);
  });

  test("whose certificate the server does not accept registers again, or says that it cannot", async () => {
    const { address, identity } = await server();
    const stranger = await createRoot({ commonName: "another authority", now: Date.now() });
    const stored = { ...(await certificateOf(stranger, { dnsNames: ["cluster-1"], now: Date.now() })), root: identity.root };
    const helpless = agent({ address, root: identity.root, credentials: credentialsIn(stored), token: undefined });
    await until(() => helpless.states.filter((state) => state.startsWith("waiting")).length === 2, "the agent waits again");
    expect(helpless.states.at(-1)).toMatch(
      /cannot register cluster-1: the management server does not accept its certificate, and no relay identity token is set/,
    );
    await helpless.stop();
    const started = agent({ address, root: identity.root, credentials: credentialsIn(stored) });
    await until(() => isConnected(started), "the agent is connected");
  });
});

describe("an agent without certificates (TLS setup)", () => {
  test("connects with the token on its call", async () => {
    const { address, identity, events, registrations } = await server({ clientCertificates: false });
    const started = agent({ address, root: identity.root, credentials: undefined });
    started.link.synced(KINDS, []);
    await until(() => events.length === 2, "the cluster is synced");
    expect(registrations.known.get("cluster-1")).toBe("uid-of-cluster-1");
  });

  test("never sends the token to a server of another root", async () => {
    const { address, grpc } = await server({ clientCertificates: false });
    const other = await createServerIdentity({ now: Date.now() });
    expect(await complaintOf(agent({ address, root: other.root, credentials: undefined }))).toMatch(
      /not signed by the root that this agent trusts/,
    );
    expect(grpc.metrics()).toEqual([]);
  });

  test("never sends the token to a server of another name, one whose certificate has expired, or one with a client's", async () => {
    const root = await createRoot({ commonName: "root", now: Date.now() - 10 * DAY });
    const names = { dnsNames: [DEFAULT_AUTHORITY], now: Date.now() };
    const bad = [
      [
        await issueServerCertificate(root, { ...names, dnsNames: ["elsewhere.example"] }),
        /is for elsewhere\.example, not for gloo-mesh-mgmt-server\.gloo-mesh/,
      ],
      [await issueServerCertificate(root, { ...names, now: Date.now() - 5 * DAY, lifetimeMs: DAY }), /its certificate has expired/],
      [await certificateOf(root, names), /its certificate is not a server certificate/],
    ] as const;
    for (const [certificate, complaint] of bad) {
      const identity = { root: root.certificate, signing: undefined, server: certificate };
      const { address, grpc } = await server({ clientCertificates: false, identity });
      expect(await complaintOf(agent({ address, root: root.certificate, credentials: undefined }))).toMatch(complaint);
      // It has heard no call at all.
      expect(grpc.metrics()).toEqual([]);
    }
  });

  test("takes any server for its own only where its configuration says not to look, and says so each time", async () => {
    const { address, identity } = await server({ clientCertificates: false });
    const other = await createServerIdentity({ now: Date.now() });
    const trusting = agent({ address, root: other.root, credentials: undefined, verifiesServer: false, authority: "elsewhere.example" });
    await until(() => isConnected(trusting), "the agent is connected");
    expect(trusting.connectorLog.lines.map(({ message }) => message).join()).toMatch(
      /INSECURE: the certificate of the management server at .* is not verified/,
    );
    expect(identity.root).not.toBe(other.root);
  });

  test("says clearly that its token is wrong, or that there is none", async () => {
    const { address, identity } = await server({ clientCertificates: false });
    expect(await complaintOf(agent({ address, root: identity.root, credentials: undefined, token: "guess" }))).toMatch(
      /the token is not valid/,
    );
    expect(await complaintOf(agent({ address, root: identity.root, credentials: undefined, token: undefined }))).toMatch(
      /no relay identity token is set.*: meshctl cluster token shared/,
    );
  });

  test("says clearly that the server wants certificates", async () => {
    const { address, identity } = await server();
    expect(await complaintOf(agent({ address, root: identity.root, credentials: undefined }))).toMatch(/requires a client certificate/);
  });
});

describe("an agent says what is wrong and waits", () => {
  test("with a wrong token", async () => {
    const { address, identity, registrations, events } = await server();
    const started = agent({ address, root: identity.root, token: "guess" });
    expect(await complaintOf(started)).toMatch(/the token is not valid: copy the Secret relay-identity-token-secret/);
    expect(registrations.known.size).toBe(0);
    expect(events).toEqual([]);
  });

  test("with no token", async () => {
    const { address, identity } = await server();
    const started = agent({ address, root: identity.root, token: undefined });
    expect(await complaintOf(started)).toMatch(
      /cannot register cluster-1: it has no certificate yet, and no relay identity token is set .*: meshctl cluster token create --cluster cluster-1 --manifest/,
    );
  });

  // In each of these the server has heard nothing: neither the token nor a name.
  test("with a server of another root", async () => {
    const { address, grpc } = await server();
    const other = await createServerIdentity({ now: Date.now() });
    expect(await complaintOf(agent({ address, root: other.root }))).toMatch(
      /its certificate is not signed by the root that this agent trusts/,
    );
    expect(grpc.metrics()).toEqual([]);
  });

  test("with a server of another name", async () => {
    const { address, identity, grpc } = await server();
    const complaint = await complaintOf(agent({ address, root: identity.root, authority: "mgmt.example.com" }));
    expect(complaint).toMatch(/its certificate is for gloo-mesh-mgmt-server\.gloo-mesh.*, not for mgmt\.example\.com/);
    expect(grpc.metrics()).toEqual([]);
  });

  test("with a server whose certificate has expired", async () => {
    const root = await createRoot({ commonName: "root", now: Date.now() - 10 * DAY });
    const expired = await issueServerCertificate(root, { dnsNames: [DEFAULT_AUTHORITY], now: Date.now() - 5 * DAY, lifetimeMs: DAY });
    const { address, grpc } = await server({ identity: { root: root.certificate, signing: undefined, server: expired } });
    expect(await complaintOf(agent({ address, root: root.certificate }))).toMatch(
      /its certificate has expired: renew relay-server-tls-secret/,
    );
    expect(grpc.metrics()).toEqual([]);
  });

  test("with a server that has only a client's certificate, from the right root", async () => {
    const { identity } = await server();
    const signing = identity.signing ?? (await createRoot({ commonName: "never", now: 0 }));
    const impostor = await certificateOf(signing, { dnsNames: [DEFAULT_AUTHORITY], now: Date.now() });
    const { address, grpc } = await server({ identity: { ...identity, server: impostor } });
    expect(await complaintOf(agent({ address, root: identity.root }))).toMatch(/its certificate is not a server certificate/);
    expect(grpc.metrics()).toEqual([]);
  });

  test("with no server", async () => {
    const { identity, address, stop } = await realServer();
    await stop();
    expect(await complaintOf(agent({ address, root: identity.root }))).toMatch(
      /cannot reach the management server at 127\.0\.0\.1:\d+: .*ECONNREFUSED/,
    );
  });

  test("with a gateway that does not know the authority: it closes the connection", async () => {
    const { identity } = await server();
    const gateway = createServer((socket) => socket.once("data", () => socket.resetAndDestroy()));
    await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = gateway.address() as AddressInfo;
      expect(await complaintOf(agent({ address: `127.0.0.1:${port}`, root: identity.root }))).toMatch(
        /cannot reach the management server at 127\.0\.0\.1:\d+: .*; the connection was closed before the server answered: .*check --relay-authority/,
      );
    } finally {
      gateway.close();
    }
  });

  test("with a name that another cluster has", async () => {
    const { address, identity, events } = await server({ registrations: registrationsOf(new Map([["cluster-1", "another-uid"]])) });
    expect(await complaintOf(agent({ address, root: identity.root }))).toMatch(
      /another cluster is registered as cluster-1: use another name for this cluster/,
    );
    expect(events).toEqual([]);
  });

  test("with a name that cannot be one", async () => {
    const { address, identity, registrations } = await server();
    expect(await complaintOf(agent({ address, root: identity.root, clusterName: "Cluster_1" }))).toMatch(
      /"Cluster_1" is not a valid cluster name/,
    );
    expect(registrations.known.size).toBe(0);
  });

  test("with Secrets that cannot be read, or hold no certificates", async () => {
    const { address, identity } = await server();
    const unreadable = agent({
      address,
      root: identity.root,
      credentials: { load: () => Promise.reject(new Error("the API server is away")), save: () => Promise.resolve() },
    });
    expect(await complaintOf(unreadable)).toBe("waiting: cannot access the stored certificate: the API server is away");
    expect(await complaintOf(agent({ address, root: "ca.crt" }))).toMatch(/the root certificate \(relay-root-tls-secret\) cannot be used/);
    const signing = identity.signing ?? (await createRoot({ commonName: "never", now: 0 }));
    const stored = await certificateOf(signing, { dnsNames: ["cluster-1"], now: Date.now() });
    const credentials = credentialsIn({ certificate: stored.certificate, key: identity.server.key, root: identity.root });
    const mixed = agent({ address, root: identity.root, credentials });
    expect(await complaintOf(mixed)).toMatch(/the stored certificates cannot be used: .*key values mismatch/);
  });

  test("with a server of users' own certificates, the one name of which is a wildcard, nothing is wrong", async () => {
    const root = await createRoot({ commonName: "*.gloo-mesh", now: Date.now() });
    const own = await issueServerCertificate(root, { dnsNames: ["*.gloo-mesh"], now: Date.now() });
    const { address } = await server({ identity: { root: root.certificate, signing: root, server: own } });
    const started = agent({ address, root: root.certificate });
    await until(() => isConnected(started), "the agent is connected");
  });
});

describe("a server", () => {
  test("takes new certificates into use without ending streams, and agents that trust both roots come back", async () => {
    const { address, identity, grpc, events } = await server({ registrations: registrationsOf(new Map([["cluster-2", "uid-2"]])) });
    const next = await createServerIdentity({ now: Date.now() });
    const started = agent({ address, root: identity.root });
    await until(() => isConnected(started), "the agent is connected");
    grpc.rotate({ ...next, root: `${next.root}${identity.root}`, signing: identity.signing });
    const { first } = await rawConnect({
      address,
      root: next.root,
      identity: await certificateOf(identity.signing ?? next.server, { dnsNames: ["cluster-2"], now: Date.now() }),
    });
    expect(first?.body.case).toBe("welcome");
    expect(events.filter((event) => event.includes("cluster-1"))).toEqual(["connected cluster-1"]);
  });

  test.each([
    ["relay-root-tls-secret", { root: "none" }],
    ["relay-server-tls-secret", { server: { certificate: "none", key: "none" } }],
    ["relay-tls-signing-secret", { signing: { certificate: "none", key: "none" } }],
  ])("does not start with a bad %s, and says so", async (secret, wrong) => {
    const identity = { ...(await createServerIdentity({ now: Date.now() })), ...wrong };
    await expect(realServer({ identity })).rejects.toThrow(new RegExp(`^the certificates of the relay server cannot be used: ${secret}: `));
  });

  test("does not sign with a certificate that is no authority's", async () => {
    const identity = await createServerIdentity({ now: Date.now() });
    await expect(realServer({ identity: { ...identity, signing: identity.server } })).rejects.toThrow(
      /relay-tls-signing-secret: its certificate is not a CA certificate/,
    );
  });

  test("says clearly that its port is taken", async () => {
    const { grpc } = await server();
    const second = realServer({ port: grpc.port });
    await expect(second).rejects.toThrow(UsageError);
    await expect(second).rejects.toThrow(/127\.0\.0\.1:\d+: the port is already in use/);
  });
});
