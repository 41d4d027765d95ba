import { connect as connectTls, createServer, type TLSSocket } from "node:tls";
import { allKinds, Secret } from "@isthmus/api";
import { createJoinToken, systemClock } from "@isthmus/plane";
import { grpcConnector } from "@isthmus/relay";
import { demoClusters, simulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startFullAgent } from "./harness/fullAgent.ts";
import { NAMESPACE, type Replica, type Replicas, replicasOf, SHARED_TOKEN, until } from "./harness/replicas.ts";
import { unpackedWire } from "./harness/unpackedWire.ts";

const CANARY = "canary-8f3d1c-do-not-tell";
const clock = systemClock;

let plane: Replicas;
beforeEach(async () => {
  plane = await replicasOf();
});
afterEach(() => plane.stop());

/** Ends TLS with the server's own certificate, and speaks TLS to the server: what passes is seen as it is, and unpacked. */
async function recordingProxy({ grpc, kept }: Replica): Promise<{ readonly port: number; bytes(): Buffer; close(): void }> {
  /** By who sent it: one end of one connection. */
  const sent: Buffer[][] = [];
  const sockets = new Set<TLSSocket>();
  const { certificate, key } = kept.identity.server;
  const proxy = createServer({ cert: certificate, key, ALPNProtocols: ["h2"] }, (down) => {
    const up = connectTls({
      port: grpc.port,
      host: "127.0.0.1",
      ca: kept.identity.root,
      servername: "gloo-mesh-mgmt-server.gloo-mesh",
      ALPNProtocols: ["h2"],
    });
    for (const [from, to] of [
      [down, up],
      [up, down],
    ] as const) {
      sockets.add(from);
      const chunks: Buffer[] = [];
      sent.push(chunks);
      from.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        to.write(chunk);
      });
      from.on("close", () => to.destroy());
      from.on("error", () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return {
    port: address.port,
    bytes: () => Buffer.concat(sent.map((chunks) => unpackedWire(Buffer.concat(chunks)))),
    close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}

function canarySecret(name: string, namespace: string) {
  const value = Buffer.from(CANARY).toString("base64");
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, type: "Opaque", data: { password: value, "tls.key": value } };
}

test("what Secrets hold is in no message, no log and no snapshot", async () => {
  // Without client certificates, so that a proxy can read along.
  const replica = await plane.start({ clientCertificates: false });
  const { token } = await createJoinToken(plane.management, { namespace: NAMESPACE, clock, clusterName: "cluster-1", lifetimeMs: 60_000 });
  await plane.management.create(canarySecret("of-the-management-cluster", NAMESPACE));
  const cluster = simulatedCluster({ name: "cluster-1", clock, kinds: allKinds() });
  cluster.load([{ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }, ...(demoClusters()["cluster-1"] ?? [])]);
  for (const namespace of [NAMESPACE, "bookinfo", "istio-system"]) await cluster.create(canarySecret("of-a-workload-cluster", namespace));

  const proxy = await recordingProxy(replica);
  const stop = new AbortController();
  const log = logTo(plane.lines);
  const connector = grpcConnector({
    address: `127.0.0.1:${proxy.port}`,
    clusterName: "cluster-1",
    clusterUid: "uid-1",
    root: async () => replica.kept.identity.root,
    token: async () => SHARED_TOKEN,
    credentials: undefined,
    clock,
    random: Math.random,
    log,
  });
  const agent = startFullAgent({ cluster, clusterUid: "uid-1", connector, log }, stop.signal);
  try {
    await until(() => replica.server.store.clusters.get("cluster-1")?.phase === "synced", "the cluster is synced");
    await plane.management.update(canarySecret("of-the-management-cluster", NAMESPACE));
    await until(() => [...replica.server.view.snapshot.of(Secret)].length > 0, "the server has seen Secrets");
    const wire = proxy.bytes();
    // The proxy does see what passes.
    expect(wire.includes("reviews")).toBe(true);
    const keys = [replica.kept.identity.server.key, replica.kept.identity.signing?.key ?? ""].map((pem) => pem.split("\n")[1] ?? "");
    const secrets = [CANARY, token, SHARED_TOKEN, ...keys];
    const snapshots = JSON.stringify([
      [...replica.server.view.snapshot.collections().values()].map((collection) => [...collection]),
      [...replica.server.store.snapshot.collections().values()].map((collection) => [...collection]),
      [...agent.view.snapshot.collections().values()].map((collection) => [...collection]),
    ]);
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(10);
      for (const form of [secret, Buffer.from(secret).toString("base64")]) {
        expect(plane.lines.join("\n")).not.toContain(form);
        expect(snapshots).not.toContain(form);
        // The token is meant for the wire, in this setup: in its header, and nowhere else.
        if (secret !== SHARED_TOKEN) expect(wire.includes(form)).toBe(false);
      }
    }
  } finally {
    stop.abort(new Error("the test is over"));
    await agent.ended;
    proxy.close();
  }
});

function logTo(lines: string[]) {
  const at = (level: string) => (fields: object, message: string) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
