import http2, { connect, createSecureServer } from "node:http2";
import { connect as connectTcp, createServer } from "node:net";
import { Server } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { createServerIdentity, startGrpcServer } from "../src/index.ts";
import { DEFAULT_LIMITS, startConnectionGuard } from "../src/transport/connectionGuard.ts";
import { serveGrpc } from "../src/transport/grpcOverHttp2.ts";
import { startHttp2Server, WINDOW_BYTES } from "../src/transport/http2Server.ts";
import { limitRelayCall } from "../src/transport/relayCalls.ts";
import { serverTlsContext } from "../src/transport/serverTls.ts";
import { registrationsOf, until } from "./realRelay.ts";
import { recordingLog } from "./sessionFleet.ts";

const clock = { now: () => Date.now(), sleep: () => Promise.resolve() };

const OPTIONS = {
  host: "127.0.0.1",
  port: 0,
  remedy: "set another with --port",
  streams: { few: 4, many: 16 },
  widens: true,
  limitStream: limitRelayCall(1_000),
};

async function started(port: number) {
  const identity = await createServerIdentity({ now: Date.now() });
  const accept = () => {
    throw new Error("nobody connects");
  };
  const options = { host: "127.0.0.1", port, identity, accept, registrations: registrationsOf(), token: () => undefined };
  return startGrpcServer({ ...options, clock, log: recordingLog() });
}

test("a server that starts leaves Node's own HTTP/2 as it is", async () => {
  const before = http2.createSecureServer;
  const replaced: boolean[] = [];
  const server = started(0);
  let isOver = false;
  const watch = () => {
    replaced.push(http2.createSecureServer !== before);
    if (!isOver) setImmediate(watch);
  };
  watch();
  await (await server).close();
  isOver = true;
  expect(replaced.length).toBeGreaterThan(1);
  expect(replaced).not.toContain(true);
});

test("a port that is taken is said in one sentence", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as { port: number };
  await expect(started(port)).rejects.toThrow(`cannot listen on 127.0.0.1:${port}: the port is already in use: set another with --port`);
  await new Promise((resolve) => other.close(resolve));
});

test("a gRPC library that serves calls in another way is noticed before the server listens", () => {
  const grpc = new Server();
  serveGrpc(grpc, createSecureServer());
  Object.assign(grpc, { _setupHandlers: () => undefined });
  expect(() => serveGrpc(grpc, createSecureServer())).toThrow(/does not serve an HTTP\/2 server by its method _setupHandlers/);
  Object.assign(grpc, { _setupHandlers: undefined });
  expect(() => serveGrpc(grpc, createSecureServer())).toThrow(/_setupHandlers/);
});

test("windows are those of HTTP/2 until it is known who is there, and large from then on, for the stream and for the connection", async () => {
  const identity = await createServerIdentity({ now: Date.now() });
  const guard = startConnectionGuard({ limits: DEFAULT_LIMITS, metric: "relay_server_connections_cut_total", log: recordingLog() });
  const tls = serverTlsContext(identity);
  const server = await startHttp2Server({ ...OPTIONS, tls, guard, serve: () => undefined });
  const client = connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false });
  await new Promise((resolve) => client.once("remoteSettings", resolve));
  expect(client.remoteSettings).toMatchObject({ initialWindowSize: 65_535, maxConcurrentStreams: 4, maxHeaderListSize: 16 * 1024 });
  expect(client.state.remoteWindowSize).toBe(65_535);
  const widened = new Promise((resolve) => client.once("remoteSettings", resolve));
  guard.identified(`127.0.0.1:${client.socket.localPort}`);
  await widened;
  expect(client.remoteSettings).toMatchObject({ initialWindowSize: WINDOW_BYTES, maxConcurrentStreams: 16 });
  await until(() => client.state.remoteWindowSize === WINDOW_BYTES, "the window of the connection is large");
  const closed = new Promise((resolve) => client.once("close", resolve));
  await server.close(1_000);
  await closed;
  guard.stop();
});

test("closing ends connections on which nobody has begun with TLS, and does not wait for the limit of their handshakes", async () => {
  const identity = await createServerIdentity({ now: Date.now() });
  const guard = startConnectionGuard({ limits: DEFAULT_LIMITS, metric: "relay_server_connections_cut_total", log: recordingLog() });
  const tls = serverTlsContext(identity);
  const server = await startHttp2Server({ ...OPTIONS, tls, guard, serve: () => undefined });
  const silent = connectTcp(server.port, "127.0.0.1");
  await new Promise((resolve) => silent.once("connect", resolve));
  const other = connectTcp(server.port, "127.0.0.1").resume();
  await new Promise((resolve) => other.once("connect", resolve));
  const ended = new Promise((resolve) => silent.resume().once("close", () => resolve("ended")));
  const closed = server.close(100).then(() => "closed");
  let timer: NodeJS.Timeout | undefined;
  // A handshake may take 10 s.
  const limit = new Promise((resolve) => {
    timer = setTimeout(() => resolve("waited for the handshakes"), 8_000);
  });
  expect(await Promise.race([closed, limit])).toBe("closed");
  clearTimeout(timer);
  expect(await ended).toBe("ended");
  guard.stop();
});
