import http2, { type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { type Socket, connect as tcp } from "node:net";
import { connect as tls } from "node:tls";
import { gzipSync } from "node:zlib";
import { systemClock } from "@isthmus/plane";
import { createServerIdentity, type GrpcServer, type GrpcServerOptions, grpcConnector, startGrpcServer } from "@isthmus/relay";
import { afterEach, describe, expect, test } from "vitest";
import { emptyRegistrations } from "./harness/emptyRegistrations.ts";

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const TOKEN = "the-token-of-this-test-suite";
const REGISTER = "/relay.v1.RegistrationService/Register";
const CONNECT = "/relay.v1.RelayService/Connect";
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

interface Served extends GrpcServer {
  readonly root: string;
}

async function serve(limits: GrpcServerOptions["limits"] = {}): Promise<Served> {
  const identity = await createServerIdentity({ now: Date.now() });
  const server = await startGrpcServer({
    host: "127.0.0.1",
    port: 0,
    identity,
    accept: () => ({ received: () => undefined, drained: () => undefined, ended: () => undefined }),
    registrations: emptyRegistrations(),
    token: () => TOKEN,
    limits,
    clock: systemClock,
    log: silent,
  });
  stops.push(server.close);
  return { ...server, root: identity.root };
}

/** A connection of somebody whom nobody knows. */
async function stranger({ port, root }: Served): Promise<ClientHttp2Session> {
  const session = http2.connect(`https://127.0.0.1:${port}`, { ca: root, servername: "gloo-mesh-mgmt-server.gloo-mesh" });
  stops.push(() => session.destroy());
  session.on("error", () => undefined);
  await new Promise<void>((resolve, reject) => {
    session.once("remoteSettings", () => resolve());
    session.once("close", () => reject(new Error("the connection was cut")));
  });
  return session;
}

/** A call that is open. `ended`: its status, or how it was reset. */
function call(session: ClientHttp2Session, path = REGISTER, headers: Readonly<Record<string, string>> = {}) {
  const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers", ...headers });
  const seen: { status?: string } = {};
  const take = (fields: object) => {
    const status = (fields as Readonly<Record<string, unknown>>)["grpc-status"];
    if (status !== undefined) seen.status = `status ${String(status)}`;
  };
  stream.on("response", take);
  stream.on("trailers", take);
  stream.on("error", () => undefined);
  stream.resume();
  const ended = new Promise<string>((resolve) => stream.once("close", () => resolve(seen.status ?? `reset ${stream.rstCode}`)));
  return { stream, ended };
}

/** A gRPC message of one field of so many bytes. */
function message(bytes: number, compressed = 0): Buffer {
  const body = compressed === 0 ? Buffer.alloc(bytes, 0x7a) : gzipSync(Buffer.alloc(bytes, 0x7a));
  const head = Buffer.alloc(5);
  head.writeUInt8(compressed, 0);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** Sends until all has been taken, or the call ends. Gives how many bytes were taken. */
function send(stream: ClientHttp2Stream, data: Buffer): Promise<number> {
  return new Promise((resolve) => {
    let taken = 0;
    const next = () => {
      if (taken >= data.length || stream.destroyed) return resolve(taken);
      const piece = data.subarray(taken, taken + 16_384);
      stream.write(piece, (error) => {
        if (error) return resolve(taken);
        taken += piece.length;
        setImmediate(next);
      });
    };
    stream.once("close", () => resolve(taken));
    next();
  });
}

const isClosed = (socket: Socket) => new Promise<true>((resolve) => socket.once("close", () => resolve(true)));

/** An agent that registers, and stays connected. */
async function agent({ port, root }: Served, clusterName: string) {
  let ended = false;
  let saved: Awaited<ReturnType<NonNullable<Parameters<typeof grpcConnector>[0]["credentials"]>["load"]>>;
  const stop = new AbortController();
  const connector = grpcConnector({
    address: `127.0.0.1:${port}`,
    clusterName,
    clusterUid: `uid-of-${clusterName}`,
    root: async () => root,
    token: async () => TOKEN,
    credentials: {
      load: async () => saved,
      async save(credentials) {
        saved = credentials;
      },
    },
    clock: systemClock,
    random: Math.random,
    log: silent,
  });
  const handler = {
    received: () => undefined,
    drained: () => undefined,
    ended() {
      ended = true;
    },
    replace: () => undefined,
  };
  const stream = await connector.connect(handler, () => undefined, stop.signal);
  stops.push(() => {
    stop.abort();
    stream.end({ code: "Ended", reason: "the test is over" });
  });
  return { isEnded: () => ended };
}

/** So long an honest agent may take to show who it is, also on a busy machine. */
const UNKNOWN_MS = 3_000;

const cuts = (server: Served) => server.metrics().filter(({ name }) => name === "relay_server_connections_cut_total");

describe("a caller whom nobody knows", () => {
  test("sends 64 KB in a call and no more, also of a stream, and nothing compressed", async () => {
    const session = await stranger(await serve());
    const large = call(session);
    expect(await send(large.stream, message(1_900_000))).toBeLessThan(256 * 1024);
    expect(await large.ended).toBe(`reset ${http2.constants.NGHTTP2_ENHANCE_YOUR_CALM}`);

    const small = call(session);
    small.stream.end(message(0));
    expect(await small.ended).toMatch(/^status/);

    const bomb = call(session, REGISTER, { "grpc-encoding": "gzip" });
    bomb.stream.end(message(1_900_000, 1));
    expect(await bomb.ended).toBe(`reset ${http2.constants.NGHTTP2_ENHANCE_YOUR_CALM}`);

    const stream = call(session, CONNECT);
    expect(await send(stream.stream, message(1_900_000))).toBeLessThan(256 * 1024);
    expect(await stream.ended).toMatch(/^(status 16|reset 11)$/);
  });

  test("has four streams, and a call ends when its time is over", async () => {
    const session = await stranger(await serve({ callMs: 300 }));
    const calls = Array.from({ length: 12 }, () => call(session));
    expect(session.remoteSettings.maxConcurrentStreams).toBe(4);
    const endings = await Promise.all(calls.map(({ ended }) => ended));
    expect(new Set(endings)).toEqual(new Set([`reset ${http2.constants.NGHTTP2_CANCEL}`]));
  });

  test("is cut when it does not say who it is, whether it speaks TLS, HTTP/2 or nothing", async () => {
    const server = await serve({ unknownMs: UNKNOWN_MS });
    const silentOne = tcp(server.port, "127.0.0.1");
    const tlsOnly = tls({
      port: server.port,
      host: "127.0.0.1",
      ca: server.root,
      servername: "gloo-mesh-mgmt-server.gloo-mesh",
      ALPNProtocols: ["h2"],
    });
    for (const socket of [silentOne, tlsOnly]) {
      socket.on("error", () => undefined);
      socket.resume();
      stops.push(() => void socket.destroy());
    }
    const session = await stranger(server);
    const closed = new Promise<true>((resolve) => session.once("close", () => resolve(true)));
    const areClosed = Promise.all([isClosed(silentOne), isClosed(tlsOnly), closed]);
    // Who has shown who it is stays.
    const east = await agent(server, "east");
    const overAt = Date.now() + UNKNOWN_MS + 500;
    expect(await areClosed).toEqual([true, true, true]);
    expect(cuts(server)).toEqual([expect.objectContaining({ labels: { reason: "idle" }, value: 3 })]);
    await systemClock.sleep(Math.max(0, overAt - Date.now()));
    expect(east.isEnded()).toBe(false);
    expect(cuts(server)).toEqual([expect.objectContaining({ value: 3 })]);
  });

  test("loses its connection when it opens streams without end, and resets each at once", async () => {
    const server = await serve();
    const session = await stranger(server);
    let opened = 0;
    for (; opened < 400 && cuts(server).length === 0; opened++) {
      const { stream, ended } = call(session);
      stream.close(http2.constants.NGHTTP2_CANCEL);
      // Node's client may not notice that its connection is gone.
      await Promise.race([ended, systemClock.sleep(500)]);
    }
    // The library itself would take a thousand.
    expect(opened).toBeLessThan(200);
    expect(cuts(server)).toEqual([expect.objectContaining({ labels: { reason: "streams" }, value: 1 })]);
  });

  test("sends no more headers than a call has", async () => {
    const session = await stranger(await serve());
    const many = call(session, REGISTER, Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x-${i}`, "1"])));
    expect(await many.ended).toMatch(/^reset/);
  });
});

describe("connections", () => {
  test.each([
    ["of one address", { connectionsPerAddress: 4 }, "address"],
    ["of all", { connections: 4 }, "total"],
  ])("%s have a limit, which those who are known are not cut for", async (_, limits, reason) => {
    const server = await serve(limits);
    const east = await agent(server, "east");
    const others = [await stranger(server), await stranger(server)];
    await stranger(server);
    const closed = others.map((session) => new Promise<true>((resolve) => session.once("close", () => resolve(true))));
    // Each that comes now takes the place of the oldest that has not shown who it is.
    await stranger(server);
    await stranger(server);
    expect(await Promise.all(closed)).toEqual([true, true]);
    const west = await agent(server, "west");
    await stranger(server);
    expect([east.isEnded(), west.isEnded()]).toEqual([false, false]);
    expect(cuts(server)).toEqual([expect.objectContaining({ labels: { reason } })]);
  });
});
