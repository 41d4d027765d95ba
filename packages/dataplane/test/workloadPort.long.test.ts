import http2, { type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { type Socket, connect as tcp } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test, vi } from "vitest";
import { WORKLOAD_PORT_LIMITS, type WorkloadPortLimits } from "../src/workloadPort.ts";
import { inbound, introduction, message } from "./messages.ts";
import { metricValue, type RunningSink, startSink } from "./runningSink.ts";

const MEBIBYTE = 1024 * 1024;
const PATH = "/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs";
const [DATA, HEADERS, SETTINGS, CONTINUATION] = [0, 1, 4, 9] as const;

const stops: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

interface Limits {
  readonly connections?: Partial<WorkloadPortLimits["connections"]>;
  readonly unfinished?: Partial<WorkloadPortLimits["unfinished"]>;
}

async function served({ connections = {}, unfinished = {} }: Limits = {}): Promise<RunningSink> {
  const portLimits = {
    connections: { ...WORKLOAD_PORT_LIMITS.connections, ...connections },
    unfinished: { ...WORKLOAD_PORT_LIMITS.unfinished, ...unfinished },
  };
  const running = await startSink(() => [], { portLimits });
  stops.push(running.stop);
  return running;
}

/** A proxy that logs gets through: the port serves whatever others do. */
async function logs(running: RunningSink, podName = "reviews-1"): Promise<void> {
  const before = metricValue(running.sink.metrics(), "gloo_mesh_access_log_entries_total", { verified: "false" });
  const { call, ended } = running.stream();
  call.write(message([inbound(200)], introduction(podName)));
  call.end();
  expect(await ended).toBe("OK");
  expect(metricValue(running.sink.metrics(), "gloo_mesh_access_log_entries_total", { verified: "false" })).toBe(before + 1);
}

function cut({ sink }: RunningSink, reason: string): number {
  return metricValue(sink.metrics(), "gloo_mesh_workload_connections_cut_total", { reason });
}

function socketTo({ port }: RunningSink): Promise<{ readonly socket: Socket; readonly closed: Promise<void> }> {
  return new Promise((resolve, reject) => {
    const socket = tcp({ host: "127.0.0.1", port });
    stops.push(() => void socket.destroy());
    const closed = new Promise<void>((done) => socket.once("close", () => done()));
    socket.on("error", reject);
    socket.resume();
    socket.once("connect", () => resolve({ socket, closed }));
  });
}

async function sessionTo({ port }: RunningSink): Promise<ClientHttp2Session> {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  stops.push(() => session.destroy());
  session.on("error", () => undefined);
  await new Promise((resolve) => session.once("remoteSettings", resolve));
  return session;
}

function streamOn(session: ClientHttp2Session): { readonly stream: ClientHttp2Stream; readonly closed: Promise<number> } {
  const stream = session.request({ ":method": "POST", ":path": PATH, "content-type": "application/grpc", te: "trailers" });
  stream.on("error", () => undefined);
  stream.resume();
  return { stream, closed: new Promise((resolve) => stream.once("close", () => resolve(stream.rstCode))) };
}

/** The beginning of a gRPC message: its prefix, and so much of what it says. */
function beginning(length: number, part: number): Buffer {
  const bytes = Buffer.alloc(5 + part, 0x7a);
  bytes.writeUInt8(0, 0);
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function memory(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test("connections on which nobody introduces himself are closed, whether they speak or not; one of a proxy stays", async () => {
  const running = await served({ connections: { unknownMs: 200 } });
  const silent = await socketTo(running);
  const halfOpen = await socketTo(running);
  halfOpen.socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  const speaking = await sessionTo(running);
  const speakingClosed = new Promise((resolve) => speaking.once("close", resolve));
  const proxy = running.stream();
  proxy.call.write(message([inbound(200)], introduction("reviews-1")));
  await Promise.all([silent.closed, halfOpen.closed, speakingClosed]);
  expect(cut(running, "idle")).toBe(3);
  await sleep(300);
  proxy.call.write(message([inbound(200)]));
  proxy.call.end();
  expect(await proxy.ended).toBe("OK");
});

test("one address has so many connections, and the oldest that is not a proxy's makes room", async () => {
  const running = await served({ connections: { connectionsPerAddress: 8 } });
  const proxy = running.stream();
  proxy.call.write(message([inbound(200)], introduction("reviews-1")));
  await vi.waitFor(() => expect(metricValue(running.sink.metrics(), "gloo_mesh_access_log_entries_total", { verified: "false" })).toBe(1));
  const sockets = [];
  for (let i = 0; i < 20; i++) sockets.push(await socketTo(running));
  await Promise.all(sockets.slice(0, 13).map(({ closed }) => closed));
  expect(cut(running, "address")).toBe(13);
  proxy.call.write(message([inbound(201)]));
  proxy.call.end();
  expect(await proxy.ended).toBe("OK");
});

test("a header without an end is not gathered", async () => {
  const running = await served();
  const { socket, closed } = await socketTo(running);
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  socket.write(frame(SETTINGS, 0, 0));
  // A literal header of 10 KiB, never indexed, again and again: END_HEADERS never comes.
  const value = Buffer.alloc(10_000, 0x61);
  const field = Buffer.concat([Buffer.from([0x10, 0x01, 0x78, 0x7f, 0x91, 0x4d]), value]);
  const before = memory();
  socket.write(frame(HEADERS, 0, 1, field));
  let isOpen = true;
  void closed.then(() => {
    isOpen = false;
  });
  for (let i = 0; isOpen && i < 2_000; i++) {
    if (!socket.write(frame(CONTINUATION, 0, 1, field)))
      await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed]);
  }
  await closed;
  expect(memory() - before).toBeLessThan(16 * MEBIBYTE);
  await logs(running);
});

test("streams that are opened and reset without end cost their connection", async () => {
  const running = await served();
  const session = await sessionTo(running);
  const closed = new Promise((resolve) => session.once("close", resolve));
  for (let i = 0; i < 150 && !session.destroyed; i++) {
    const { stream } = streamOn(session);
    stream.close(8);
    await sleep(0);
  }
  await closed;
  expect(cut(running, "streams")).toBe(1);
  await logs(running);
});

test("a proxy that has introduced itself may open streams for as long as it runs", async () => {
  const running = await served();
  for (let i = 0; i < 150; i++) await logs(running);
  expect(cut(running, "streams")).toBe(0);
});

test("what is held of unfinished messages is bounded for an address and in all: the oldest go", async () => {
  const running = await served({ unfinished: { bytesOfAddress: 2 * MEBIBYTE } });
  const session = await sessionTo(running);
  const streams = Array.from({ length: 40 }, () => streamOn(session));
  const before = memory();
  for (const { stream } of streams) stream.write(beginning(4 * MEBIBYTE - 1, 256 * 1024));
  // Of 10 MiB in 40 messages 2 MiB may be there.
  const ended = await Promise.all(streams.slice(0, 32).map(({ closed }) => closed));
  expect(new Set(ended)).toEqual(new Set([http2.constants.NGHTTP2_ENHANCE_YOUR_CALM]));
  expect(memory() - before).toBeLessThan(16 * MEBIBYTE);
  await logs(running);
});

test("a message that is not completed in time ends its stream", async () => {
  const running = await served({ unfinished: { messageMs: 200 } });
  const session = await sessionTo(running);
  const { stream, closed } = streamOn(session);
  stream.write(beginning(1_000, 10));
  expect(await closed).toBe(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  await logs(running);
});

test("a message in many parts is taken, and so are many in one part", async () => {
  const running = await served({ unfinished: { bytes: 64 * 1024, bytesOfAddress: 64 * 1024 } });
  const session = await sessionTo(running);
  const { stream, closed } = streamOn(session);
  const first = message([inbound(200)], introduction("reviews-1"));
  const next = message([inbound(201)]);
  const framed = (bytes: Uint8Array) => Buffer.concat([beginning(bytes.length, 0), bytes]);
  for (const byte of framed(first)) stream.write(Buffer.of(byte));
  stream.end(Buffer.concat(Array.from({ length: 1_000 }, () => framed(next))));
  expect(await closed).toBe(http2.constants.NGHTTP2_NO_ERROR);
  expect(metricValue(running.sink.metrics(), "gloo_mesh_access_log_entries_total", { verified: "false" })).toBe(1_001);
});

test("a message that is larger than one may be, or compressed, is refused before it is gathered", async () => {
  const running = await served();
  const session = await sessionTo(running);
  const large = streamOn(session);
  large.stream.write(beginning(5 * MEBIBYTE, 10));
  expect(await large.closed).not.toBe(http2.constants.NGHTTP2_NO_ERROR);
  const stream = session.request({
    ":method": "POST",
    ":path": PATH,
    "content-type": "application/grpc",
    te: "trailers",
    "grpc-encoding": "gzip",
  });
  stream.on("error", () => undefined);
  const closed = new Promise((resolve) => stream.once("close", () => resolve(stream.rstCode)));
  expect(await closed).toBe(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  await logs(running);
});

test("what is kept of who sends does not keep what it came in", async () => {
  const running = await served();
  const before = memory();
  for (let i = 0; i < 200; i++) {
    const { call, ended } = running.stream();
    const { node } = introduction(`reviews-${i}`);
    // Within what an identifier may have, and a log name of which the first letters are kept.
    const id = `${node.id}~${"x".repeat(100 * 1024)}`;
    call.write(message([inbound(200)], { node: { ...node, id, metadata: {} as typeof node.metadata }, logName: "l".repeat(100 * 1024) }));
    call.end();
    expect(await ended).toBe("OK");
  }
  // 200 KiB each, 40 MiB in all. What is let go is swept beside what runs.
  await vi.waitFor(() => expect(memory() - before).toBeLessThan(8 * MEBIBYTE), { timeout: 5_000, interval: 200 });
});

test("an identifier that is longer than any proxy's ends its stream", async () => {
  const running = await served();
  const { call, ended } = running.stream();
  const { node, logName } = introduction("reviews-1");
  call.write(message([inbound(200)], { node: { ...node, cluster: "x".repeat(300 * 1024) }, logName }));
  expect(await ended).toMatch(/^3 /);
  await logs(running);
});

test("frames of no stream harm nobody", async () => {
  const running = await served({ connections: { unknownMs: 300 } });
  const { socket, closed } = await socketTo(running);
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  socket.write(frame(SETTINGS, 0, 0));
  socket.write(frame(DATA, 0, 1, Buffer.alloc(100)));
  await closed;
  await logs(running);
});
