import { connect as tcp } from "node:net";
import { type ConnectionOptions, connect } from "node:tls";
import { certificateFacts, createAuthority, issueServerCertificate } from "@isthmus/certificates";
import { systemClock } from "@isthmus/plane";
import { createServerIdentity, grpcConnector, makeIdentity, rotateIdentity, type ServerIdentity, startGrpcServer } from "@isthmus/relay";
import { afterEach, describe, expect, test } from "vitest";
import { emptyRegistrations } from "./harness/emptyRegistrations.ts";

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const NAME = "gloo-mesh-mgmt-server.gloo-mesh";
const TOKEN = "the-token-of-this-test-suite";
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const DEAF = { received: () => undefined, drained: () => undefined, ended: () => undefined, replace: () => undefined };

async function serve(identity: ServerIdentity) {
  const calls: string[] = [];
  const server = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    identity,
    accept: () => DEAF,
    registrations: emptyRegistrations(),
    token() {
      calls.push("somebody showed a token");
      return TOKEN;
    },
    clock: systemClock,
    log: silent,
  });
  stops.push(server.close);
  return { ...server, calls };
}

/** The protocol and the suite of a handshake, or why there was none. */
function handshake(port: number, root: string, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ socket: tcp(port, "127.0.0.1"), ca: root, servername: NAME, ALPNProtocols: ["h2"], ...options }, () => {
      resolve(`${socket.getProtocol()} ${socket.getCipher().name}`);
      socket.destroy();
    });
    socket.on("error", (error) => resolve((error as NodeJS.ErrnoException).code ?? error.message));
  });
}

/** Why an agent that trusts `root` does not talk to the server at this port; "" when it does. */
async function complaint(port: number, root: string): Promise<string> {
  const agent = grpcConnector({
    address: `127.0.0.1:${port}`,
    clusterName: "east",
    clusterUid: "uid-of-east",
    root: async () => root,
    token: async () => TOKEN,
    credentials: { load: async () => undefined, save: async () => undefined },
    clock: systemClock,
    random: Math.random,
    log: silent,
  });
  const signal = new AbortController();
  try {
    const stream = await agent.connect(DEAF, () => undefined, signal.signal);
    stream.end({ code: "Ended", reason: "the test is over" });
    return "";
  } catch (error) {
    return (error as Error).message;
  } finally {
    signal.abort();
  }
}

describe("the relay's port", () => {
  test("speaks TLS 1.3, or 1.2 with authenticated encryption, also after its certificates have changed", async () => {
    const identity = await createServerIdentity({ now: Date.now() });
    const server = await serve(identity);
    const tls12 = { minVersion: "TLSv1.2", maxVersion: "TLSv1.2" } as const;
    for (const round of ["at the start", "after a rotation"]) {
      const seen = {
        preferred: await handshake(server.port, identity.root, {}),
        gcm: await handshake(server.port, identity.root, { ...tls12, ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" }),
        chacha: await handshake(server.port, identity.root, { ...tls12, ciphers: "ECDHE-ECDSA-CHACHA20-POLY1305" }),
        cbc: await handshake(server.port, identity.root, { ...tls12, ciphers: "ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA" }),
        old: await handshake(server.port, identity.root, { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" }),
      };
      expect([round, seen.preferred]).toEqual([round, expect.stringMatching(/^TLSv1\.3 TLS_AES_/)]);
      expect([seen.gcm, seen.chacha]).toEqual(["TLSv1.2 ECDHE-ECDSA-AES128-GCM-SHA256", "TLSv1.2 ECDHE-ECDSA-CHACHA20-POLY1305"]);
      expect([round, seen.cbc, seen.old]).toEqual([
        round,
        expect.stringMatching(/^(ERR_SSL|ECONNRESET)/),
        expect.stringMatching(/^(ERR_SSL|ECONNRESET)/),
      ]);
      server.rotate(identity);
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
});

describe("the key of the signing authority", () => {
  test("makes no server that an agent talks to", async () => {
    const identity = await createServerIdentity({ now: Date.now() });
    const forged = await issueServerCertificate(identity.signing, { dnsNames: [NAME], now: Date.now() });
    const chain = { certificate: forged.certificate + identity.signing.certificate, key: forged.key };
    const { port, calls } = await serve({ ...identity, server: chain });
    expect(await complaint(port, identity.root)).toMatch(/refused to connect to/);
    expect(calls).toEqual([]);
    // The same agent talks to the right one.
    expect(await complaint((await serve(identity)).port, identity.root)).toBe("");
  });

  test("makes none either while the authority is still one that an older version made", async () => {
    const made = await makeIdentity({ names: [NAME], now: Date.now() });
    const signing = await unconstrained(made.roots.current);
    const forged = await issueServerCertificate(signing, { dnsNames: [NAME], now: Date.now() });
    const chain = { certificate: forged.certificate + signing.certificate, key: forged.key };
    const { port, calls } = await serve({ ...made, signing, server: chain });
    expect(await complaint(port, made.root)).toMatch(/refused to connect to/);
    expect(calls).toEqual([]);
  });

  test("is replaced where an older version made it, and agents of before stay welcome", async () => {
    const names = [NAME];
    const now = Date.now();
    const made = await makeIdentity({ names, now });
    const before = { ...made, signing: await unconstrained(made.roots.current) };
    const after = await rotateIdentity(before, { names, now, isTrustedByAll: () => true });
    expect(after.signing.certificate).not.toBe(before.signing.certificate);
    expect([after.server, after.root]).toEqual([before.server, before.root]);
    expect(certificateFacts(after.signing.certificate).subject).toBe(certificateFacts(before.signing.certificate).subject);
    expect(await rotateIdentity(after, { names, now, isTrustedByAll: () => true })).toBe(after);
  });
});

/** As versions before made it. */
const unconstrained = (root: Parameters<typeof createAuthority>[0]) =>
  createAuthority(root, { commonName: "gloo-mesh relay signing", now: Date.now(), usages: [] });
