import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { createServer, connect as tlsConnect } from "node:tls";
import {
  createAuthority,
  createRequest,
  createRequestFor,
  createRoot,
  issueClientCertificate,
  type KeyedCertificate,
} from "@isthmus/certificates";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  askReplica,
  type RelayCredentials,
  type ReplicaKeys,
  type ReplicaPortOptions,
  replicaKeys,
  startReplicaPort,
} from "../src/index.ts";
import { recordingLog } from "./sessionFleet.ts";
import { virtualClock } from "./virtualClock.ts";

const HOUR = 3_600_000;
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

let clock = virtualClock();
beforeEach(() => {
  clock = virtualClock();
});

let signing: KeyedCertificate;
beforeAll(async () => {
  const root = await createRoot({ commonName: "root", now: clock.now() });
  signing = { ...(await createAuthority(root, { commonName: "signing", now: clock.now() })) };
});

/** A client certificate of the relay; with `of` for the same key. */
async function credentials(cluster: string, { of, lifetimeMs = 24 * HOUR }: { of?: RelayCredentials; lifetimeMs?: number } = {}) {
  const { request, key } = of === undefined ? await createRequest(cluster) : await createRequestFor(cluster, of);
  const certificate = await issueClientCertificate(signing, request, { dnsNames: [cluster], now: clock.now(), lifetimeMs });
  return { certificate, key, root: signing.certificate };
}

/** What one replica reads of the agent's Secret. */
interface Stored {
  credentials: RelayCredentials | undefined;
  reads: number;
}

async function keysOf(given: RelayCredentials | undefined): Promise<{ readonly keys: ReplicaKeys; readonly stored: Stored }> {
  const stored: Stored = { credentials: given, reads: 0 };
  const load = async () => {
    stored.reads += 1;
    return stored.credentials;
  };
  const keys = replicaKeys({ load, clock, log: recordingLog() });
  await keys.reload();
  return { keys, stored };
}

async function replica(
  keys: ReplicaKeys,
  options: Partial<ReplicaPortOptions> = {},
): Promise<{ readonly port: number; readonly asked: string[] }> {
  const stop = new AbortController();
  const asked: string[] = [];
  const answer: ReplicaPortOptions["answer"] = async ({ topic, body }) => {
    asked.push(topic);
    return Buffer.from(`${topic}: ${new TextDecoder().decode(body)}`);
  };
  const port = startReplicaPort(
    { host: "127.0.0.1", port: 0, name: "agent-2", keys, answer, clock, log: recordingLog(), ...options },
    stop.signal,
  );
  stops.push(async () => {
    stop.abort(new Error("the test is over"));
    await port.ended;
  });
  return { port: await port.listening, asked };
}

async function ask(
  port: number,
  keys: ReplicaKeys,
  { name = "agent-2", mostBytes = 1_000, body = "all", signal = AbortSignal.timeout(4_000) } = {},
) {
  const query = { topic: "access-logs", body: Buffer.from(body) };
  return new TextDecoder().decode(await askReplica({ name, address: "127.0.0.1", port }, { query, keys, mostBytes }, signal));
}

describe("replicas of one agent", () => {
  it("answer each other, by the certificate that all of them read", async () => {
    const own = await credentials("east");
    const { port } = await replica((await keysOf(own)).keys);
    expect(await ask(port, (await keysOf(own)).keys)).toBe("access-logs: all");
  });

  it("answer for themselves alone, whichever address leads to them", async () => {
    const { keys } = await keysOf(await credentials("east"));
    const { port, asked } = await replica(keys);
    await expect(ask(port, keys, { name: "agent-3" })).rejects.toThrow("it answers with status 421: this is replica agent-2");
    expect(asked).toEqual([]);
  });

  it("pass on why there is no answer, and take no more of one, or of a query, than asked for", async () => {
    const { keys } = await keysOf(await credentials("east"));
    const failing = await replica(keys, { answer: async () => Promise.reject(new Error("no access logs yet")) });
    await expect(ask(failing.port, keys)).rejects.toThrow("it answers with status 500: no access logs yet");
    const { port } = await replica(keys);
    await expect(ask(port, keys, { mostBytes: 5 })).rejects.toThrow("its answer has more than 5 bytes");
    await expect(ask(port, keys, { body: "x".repeat(65 * 1024), mostBytes: 100_000 })).rejects.toThrow(/status 500|closed/);
  });

  it("do not wait for one that says nothing", async () => {
    const { keys } = await keysOf(await credentials("east"));
    const { port } = await replica(keys, { answer: () => new Promise(() => undefined) });
    await expect(ask(port, keys, { signal: AbortSignal.timeout(300) })).rejects.toThrow("closed the connection");
  });

  it("know each other while their certificate is replaced, whichever of them learns of it first", async () => {
    const [before, after] = [await credentials("east"), await credentials("east")];
    const [asking, answering] = [await keysOf(before), await keysOf(before)];
    const { port } = await replica(answering.keys);
    for (const stored of [asking.stored, answering.stored]) stored.credentials = after;
    await clock.advance(5_000);
    await asking.keys.reload();
    // The other one has to be shown the new key first.
    expect(await ask(port, asking.keys)).toBe("access-logs: all");
    expect(answering.keys.identity?.key).toBe(after.key);
    const late = await keysOf(before);
    late.stored.credentials = after;
    await clock.advance(5_000);
    expect(await ask(port, late.keys)).toBe("access-logs: all");
    expect(late.keys.identity?.key).toBe(after.key);
  });
});

describe("the port for replicas", () => {
  /** Connects as somebody else; what comes before the connection ends. */
  async function stranger(port: number, shown?: Pick<RelayCredentials, "certificate" | "key">): Promise<string> {
    const own = shown === undefined ? {} : { cert: shown.certificate, key: shown.key };
    const socket = tlsConnect({ host: "127.0.0.1", port, rejectUnauthorized: false, ...own });
    let text = "";
    socket.on("data", (part: Buffer) => {
      text += part.toString();
    });
    socket.on("error", () => undefined);
    socket.on("secureConnect", () =>
      socket.write("POST /queries/access-logs HTTP/1.1\r\nhost: x\r\nx-replica: agent-2\r\ncontent-length: 0\r\n\r\n"),
    );
    await new Promise((resolve) => socket.once("close", resolve));
    return text;
  }

  it("answers nobody without the agent's certificate: none, another cluster's of the same authority, one that has expired, one before the last", async () => {
    const own = await credentials("east");
    const expired = await credentials("east", { of: own, lifetimeMs: HOUR });
    const { keys, stored } = await keysOf(own);
    const { port, asked } = await replica(keys);
    await clock.advance(2 * HOUR);
    expect(await stranger(port)).toBe("");
    expect(await stranger(port, await credentials("west"))).toBe("");
    // Also one that has the name of this cluster.
    expect(await stranger(port, await credentials("east"))).toBe("");
    expect(await stranger(port, expired)).toBe("");
    expect(asked).toEqual([]);
    // The same request is answered with the certificate.
    expect(await stranger(port, own)).toContain("200 OK");
    stored.credentials = await credentials("east");
    await keys.reload();
    await clock.advance(61_000);
    expect(await stranger(port, own)).toBe("");
    expect(asked).toEqual(["access-logs"]);
  });

  it("answers nobody while the agent has no certificate, or one that has expired", async () => {
    const own = await credentials("east", { lifetimeMs: HOUR });
    const none = await replica((await keysOf(undefined)).keys);
    expect(await stranger(none.port, own)).toBe("");
    const { keys } = await keysOf(own);
    await clock.advance(2 * HOUR);
    const { port } = await replica(keys);
    expect(await stranger(port, own)).toBe("");
    await expect(ask(port, keys)).rejects.toThrow("no valid client certificate");
  });

  it("reads the stored certificate again at most once a second for those who show another one", async () => {
    const { keys, stored } = await keysOf(await credentials("east"));
    const { port } = await replica(keys);
    const other = await credentials("west");
    await clock.advance(2_000);
    for (let i = 0; i < 5; i++) await stranger(port, other);
    expect(stored.reads).toBe(2);
  });

  it("closes connections on which nobody speaks, and keeps those of one address few", async () => {
    const { keys } = await keysOf(await credentials("east"));
    const { port } = await replica(keys);
    const idle = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = connect({ host: "127.0.0.1", port });
        socket.on("error", () => undefined);
        await once(socket, "connect");
        return socket;
      }),
    );
    let closed = 0;
    for (const socket of idle) {
      socket.on("close", () => {
        closed += 1;
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(closed).toBe(4);
    await Promise.all(idle.map((socket) => (socket.closed ? undefined : once(socket, "close"))));
    expect(await ask(port, keys)).toBe("access-logs: all");
  });
});

describe("the one who asks", () => {
  /** What somebody at the address of a replica reads, whatever it shows. */
  async function impostor(shown: RelayCredentials): Promise<{ readonly port: number; readonly read: Buffer[] }> {
    const read: Buffer[] = [];
    const server = createServer({ cert: shown.certificate, key: shown.key, requestCert: true, rejectUnauthorized: false }, (socket) => {
      socket.on("data", (part: Buffer) => read.push(part));
      socket.on("error", () => undefined);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stops.push(async () => {
      server.close();
      await once(server, "close");
    });
    return { port: (server.address() as AddressInfo).port, read };
  }

  it("sends nothing to one that has not the agent's certificate, or an expired one", async () => {
    const own = await credentials("east");
    const expired = await credentials("east", { of: own, lifetimeMs: HOUR });
    const { keys } = await keysOf(own);
    await clock.advance(2 * HOUR);
    for (const shown of [await credentials("west"), await credentials("east"), expired]) {
      const { port, read } = await impostor(shown);
      await expect(ask(port, keys)).rejects.toThrow("it does not show the certificate of this agent, or one that has expired");
      expect(read).toEqual([]);
    }
  });
});
