import { createPrivateKey } from "node:crypto";
import { KubernetesCluster, Secret } from "@isthmus/api";
import {
  certificateFacts,
  createAuthority,
  createRequest,
  createRoot,
  issueClientCertificate,
  issueServerCertificate,
} from "@isthmus/certificates";
import { RELAY_SECRETS } from "@isthmus/plane";
import type { SimulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NAMESPACE, type Replicas, replicasOf, secretOf, until } from "./harness/replicas.ts";

let plane: Replicas;
beforeEach(async () => {
  plane = await replicasOf();
});
afterEach(() => plane.stop());

const encode = (data: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]));

/** Writes a Secret as a user does. */
async function put(cluster: SimulatedCluster, name: string, data: Readonly<Record<string, string>>): Promise<void> {
  const found = await cluster.get(Secret, { name, namespace: NAMESPACE });
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: NAMESPACE }, type: "Opaque", data: encode(data) };
  if (found === undefined) await cluster.create(object);
  else await cluster.update({ ...object, metadata: { ...object.metadata, annotations: found.metadata.annotations ?? {} } });
}

describe("certificates that the server made", () => {
  test("go along with a token that may be changed while the server runs", async () => {
    const replica = await plane.start();
    await put(plane.management, RELAY_SECRETS.token, { token: "another-token-of-the-test-suite\n" });
    await until(() => replica.kept.token === "another-token-of-the-test-suite", "the new token is in use");
    const late = await plane.agent({ replica, clusterName: "east" });
    await until(() => late.states.some((state) => /the token is not valid/.test(state)), "the old one is refused");
    const east = await plane.agent({ replica, clusterName: "west", token: "another-token-of-the-test-suite" });
    await until(east.isConnected, "the new one is taken");
    await put(plane.management, RELAY_SECRETS.token, { other: "key" });
    await until(
      () => plane.lines.some((line) => /Secret gloo-mesh\/relay-identity-token-secret does not have the key token/.test(line)),
      "it says so",
    );
    expect(replica.kept.token).toBe("another-token-of-the-test-suite");
  });

  test("are made once by two replicas that start together, and again by none", async () => {
    const replicas = await Promise.all([plane.start(), plane.start(), plane.start()]);
    const [one] = replicas;
    for (const { kept } of replicas) expect(kept.identity).toEqual(one?.kept.identity);
    const keys = Object.keys(await secretOf(plane.management, RELAY_SECRETS.root));
    expect(keys).toEqual(["ca.crt"]);
    const before = await secretOf(plane.management, RELAY_SECRETS.server);
    await plane.start();
    expect(await secretOf(plane.management, RELAY_SECRETS.server)).toEqual(before);
    const registered = await plane.management.list(KubernetesCluster);
    expect(registered.items).toEqual([]);
  });
});

describe("certificates of a user's own authority", () => {
  async function ownAuthority() {
    const now = Date.now();
    const root = await createRoot({ commonName: "own root", now });
    const signing = await createAuthority(root, { commonName: "own signing", now });
    const server = await issueServerCertificate(root, { dnsNames: ["*.gloo-mesh"], now });
    return { root, signing, server };
  }
  const pair = ({ certificate, key }: { certificate: string; key: string }) => ({ "tls.crt": certificate, "tls.key": key });

  test("are used as they are, with keys in SEC 1, reloaded when they change, and never written", async () => {
    const own = await ownAuthority();
    const sec1 = createPrivateKey(own.signing.key).export({ type: "sec1", format: "pem" }).toString();
    await put(plane.management, RELAY_SECRETS.root, { "ca.crt": own.root.certificate });
    await put(plane.management, RELAY_SECRETS.signing, { ...pair(own.signing), "tls.key": sec1 });
    await put(plane.management, RELAY_SECRETS.server, pair(own.server));
    const replica = await plane.start({ rotationCheckMs: 20, lifetimes: { server: 1, signing: 1, root: 1 } });
    const east = await plane.agent({ replica, clusterName: "east" });
    await until(east.isConnected, "the agent is connected");

    const renewed = await issueServerCertificate(own.root, { dnsNames: ["gloo-mesh-mgmt-server.gloo-mesh"], now: Date.now() });
    await put(plane.management, RELAY_SECRETS.server, pair(renewed));
    await until(() => replica.kept.identity.server.certificate === renewed.certificate, "the new certificate is in use");
    expect(replica.isConnected("east")).toBe(true);
    const west = await plane.agent({ replica, clusterName: "west" });
    await until(west.isConnected, "another agent connects with it");

    await put(plane.management, RELAY_SECRETS.server, { "tls.crt": renewed.certificate });
    await until(
      () => plane.lines.some((line) => /^error Secret gloo-mesh\/relay-server-tls-secret does not have tls.crt and tls.key/.test(line)),
      "it says what is missing",
    );
    await put(plane.management, RELAY_SECRETS.server, pair({ ...renewed, key: own.server.key }));
    await until(
      () => plane.lines.some((line) => /relay-server-tls-secret: .*; the previous one is still used/.test(line)),
      "it says what is wrong",
    );
    expect(replica.kept.identity.server.certificate).toBe(renewed.certificate);
    expect((await secretOf(plane.management, RELAY_SECRETS.root))["ca.crt"]).toBe(own.root.certificate);
    expect((await secretOf(plane.management, RELAY_SECRETS.signing))["tls.key"]).toBe(sec1);
    expect((await plane.management.list(Secret, { namespace: NAMESPACE })).items.map(({ metadata }) => metadata.name)).not.toContain(
      "relay-generated-identity-secret",
    );
  });

  test("of the agent are reloaded when they change, and an expired one is reported, not replaced", async () => {
    const own = await ownAuthority();
    await put(plane.management, RELAY_SECRETS.root, { "ca.crt": own.root.certificate });
    await put(plane.management, RELAY_SECRETS.server, pair(own.server));
    const { apiVersion, kind } = KubernetesCluster;
    plane.management.load([{ apiVersion, kind, metadata: { name: "east", namespace: NAMESPACE } }]);
    const replica = await plane.start();
    const certificate = async (now: number) => {
      const { request, key } = await createRequest("east");
      return pair({
        key,
        certificate: await issueClientCertificate(own.root, request, { dnsNames: ["east"], now, lifetimeMs: 86_400_000 }),
      });
    };
    const stranger = await plane.agent({ replica, clusterName: "east" });
    await until(
      () => stranger.states.some((state) => /does not issue certificates: provide a client certificate for the agent/.test(state)),
      "it says so",
    );
    const { cluster } = stranger;
    await stranger.stop();
    await put(cluster, "relay-client-tls-secret", await certificate(Date.now()));
    const east = await plane.agent({ replica, clusterName: "east", cluster });
    await until(east.isConnected, "the agent is connected");
    const next = await certificate(Date.now());
    await put(cluster, "relay-client-tls-secret", next);
    await until(() => east.states.includes("waiting: its Secrets have changed"), "the agent connects anew");
    await until(east.isConnected, "with the new certificate");
    const expired = await certificate(Date.now() - 2 * 86_400_000);
    await put(cluster, "relay-client-tls-secret", expired);
    await until(
      () => east.states.some((state) => /was not created by this agent and cannot be used: the certificate expired at/.test(state)),
      "it says so",
    );
    expect(await secretOf(cluster, "relay-client-tls-secret")).toEqual(expired);
  });
});

describe("an agent", () => {
  test("takes a new root that its user gives it, and warns of a root's key where it does not belong", async () => {
    const replica = await plane.start();
    const east = await plane.agent({ replica, clusterName: "east" });
    await until(east.isConnected, "the agent is connected");
    const other = await createRoot({ commonName: "another root", now: Date.now() });
    const right = replica.kept.identity.root;
    await put(east.cluster, "relay-root-tls-secret", { "ca.crt": other.certificate, "tls.key": other.key });
    await until(() => east.states.some((state) => /not signed by the root that this agent trusts/.test(state)), "its user's word counts");
    expect(plane.lines.join("\n")).toMatch(/contains the private key of the root \(tls.key\)/);
    expect(plane.lines.join("\n")).not.toContain(other.key.split("\n")[1]);
    await put(east.cluster, "relay-root-tls-secret", { "ca.crt": right });
    await until(east.isConnected, "the agent is back");
    expect(certificateFacts((await east.credentials())?.certificate ?? "").dnsNames).toEqual(["east"]);
  });
});
