import { createHash } from "node:crypto";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { deflateRawSync } from "node:zlib";
import { Metadata } from "@grpc/grpc-js";
import { refOf } from "@isthmus/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_AUTHORITY } from "../src/index.ts";
import { openChannel } from "../src/transport/channel.ts";
import { certificateOf, rawConnect } from "./rawClient.ts";
import { type RealServer, realAgent, realServer, until } from "./realRelay.ts";
import { KINDS, service, virtualService, wantedSet } from "./sessionFleet.ts";

/** Bytes that are as good as random, and the same each time. */
function noise(seed: number, length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let i = 0; blocks.length * 32 < length; i++) blocks.push(createHash("sha256").update(`${seed} ${i}`).digest());
  return Buffer.concat(blocks).subarray(0, length);
}

describe("a healthy agent", () => {
  let server: RealServer;
  let healthy: ReturnType<typeof realAgent>;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    server = await realServer();
    server.registrations.known.set("cluster-9", "uid-9");
    healthy = realAgent({ address: server.address, root: server.identity.root });
    healthy.link.synced(KINDS, []);
    await until(() => server.synced.has("cluster-1"), "the agent is synced");
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await healthy.stop();
    await server.stop();
  });

  /** Both ways still work on the connection that it has had from the start. */
  async function isUndisturbed(round: number): Promise<void> {
    healthy.link.observe({ put: [service("cluster-1", `service-${round}`)], remove: [] });
    const wanted = virtualService("cluster-1", `route-${round}`);
    server.link.setDesired("cluster-1", wantedSet([wanted]), { evidenceOf: () => ({ reason: "InputChanged", inputs: [refOf(wanted)] }) });
    await until(() => server.known.get("cluster-1")?.has(`/Service|service-${round}.bookinfo.cluster-1`) === true, "its report has come");
    await until(() => [...healthy.applied.keys()].some((key) => key.includes(`route-${round}`)), "it has applied what is wanted");
    expect(
      server.events.filter(
        (event) => event.includes("cluster-1 ") || event.endsWith("cluster-1") || event.includes("disconnected cluster-1"),
      ),
    ).toEqual(["connected cluster-1", expect.stringMatching(/^synced cluster-1/)]);
  }

  test("is not disturbed by noise in place of TLS, of HTTP/2, or of messages", async () => {
    const { grpc, identity } = server;
    const signing = identity.signing ?? identity.server;
    const certificate = await certificateOf(signing, { dnsNames: ["cluster-9"], now: Date.now() });
    for (let seed = 1; seed <= 20; seed++) {
      const tcp = connectTcp(grpc.port, "127.0.0.1");
      const tls = connectTls({
        port: grpc.port,
        host: "127.0.0.1",
        ca: identity.root,
        servername: DEFAULT_AUTHORITY,
        ALPNProtocols: ["h2"],
      });
      sockets.push(tcp, tls);
      for (const socket of [tcp, tls]) socket.on("error", () => undefined);
      tcp.write(noise(seed, 2_000));
      tls.write(seed % 2 === 0 ? noise(seed, 2_000) : Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), noise(seed, 2_000)]));
      const client = openChannel({ address: server.address, authority: DEFAULT_AUTHORITY, root: identity.root, identity: certificate });
      const call = client.makeBidiStreamRequest(
        "/relay.v1.RelayService/Connect",
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
        new Metadata(),
      );
      call.on("error", () => undefined);
      // A hello, then noise of all lengths; without the hello every other time.
      if (seed % 2 === 0) call.write(Buffer.from([0x08, 0x01, 0x12, 0x02, 0x08, 0x01]));
      for (const length of [1, 7, 64, 4_000]) call.write(noise(seed * 100 + length, length));
      call.on("data", () => undefined);
      await new Promise<void>((resolve) => call.on("status", () => resolve()));
      client.close();
    }
    await isUndisturbed(1);
  });

  test("is not disturbed by deflated messages that are none", async () => {
    const signing = server.identity.signing ?? server.identity.server;
    const identity = await certificateOf(signing, { dnsNames: ["cluster-9"], now: Date.now() });
    const caller = { address: server.address, root: server.identity.root, identity };
    for (const deflated of [noise(1, 500), deflateRawSync(Buffer.alloc(8 * 1024 * 1024))]) {
      // The welcome comes first; what follows it is the end.
      const { all, status } = await rawConnect(caller, [{ deflated }, { deflated }]);
      expect(all.length).toBeLessThanOrEqual(1);
      expect(status?.details).toContain("cannot unpack a message");
    }
    await isUndisturbed(1);
  });

  test("is not disturbed by connections that are half open, or never say anything", async () => {
    const { grpc, identity } = server;
    for (let i = 0; i < 50; i++) {
      const silent = connectTcp(grpc.port, "127.0.0.1");
      const handshaken = connectTls({
        port: grpc.port,
        host: "127.0.0.1",
        ca: identity.root,
        servername: DEFAULT_AUTHORITY,
        ALPNProtocols: ["h2"],
      });
      for (const socket of [silent, handshaken]) {
        socket.on("error", () => undefined);
        sockets.push(socket);
      }
    }
    const signing = identity.signing ?? identity.server;
    const client = openChannel({
      address: server.address,
      authority: DEFAULT_AUTHORITY,
      root: identity.root,
      identity: await certificateOf(signing, { dnsNames: ["cluster-9"], now: Date.now() }),
    });
    const call = client.makeBidiStreamRequest(
      "/relay.v1.RelayService/Connect",
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
      new Metadata(),
    );
    call.on("error", () => undefined);
    call.on("data", () => undefined);
    await isUndisturbed(1);
    call.cancel();
    client.close();
    await isUndisturbed(2);
  });
});
