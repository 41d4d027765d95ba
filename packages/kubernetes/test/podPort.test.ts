import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { apiServerOf, loadKubeconfig } from "../src/index.ts";
import { answer, kubeconfigFor } from "./scriptedApiServer.ts";

const clock = { now: () => Date.now(), sleep: (ms: number) => sleep(ms) };
const POD = { namespace: "gloo-mesh", pod: "server-a", port: 9091 };
const PORT = Buffer.of(9091 & 0xff, 9091 >> 8);
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Double {
  /** What the node does with a connection; undefined: what `refuse` answers. */
  readonly node?: (socket: WebSocket) => void;
  readonly refuse?: (request: IncomingMessage, response: ServerResponse) => void;
  readonly protocol?: string;
  /** How long it may take to open a connection. */
  readonly silenceMs?: number;
}

/** In place of an API server, and of the node behind it. Gives what an `ApiServer` of it is, and the requests it has seen. */
async function apiServer({ node, refuse, protocol = "v4.channel.k8s.io", silenceMs = 30_000 }: Double) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    refuse?.(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => protocol });
  if (node !== undefined) {
    server.on("upgrade", (request, socket, head) => {
      seen.push(request);
      sockets.handleUpgrade(request, socket, head, (opened) => {
        opened.send(Buffer.concat([Buffer.of(0), PORT]));
        opened.send(Buffer.concat([Buffer.of(1), PORT]));
        node(opened);
      });
    });
  }
  closing.push(() => {
    for (const client of sockets.clients) client.terminate();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeconfig = loadKubeconfig({ text: kubeconfigFor(url, { token: "right" }) });
  return { api: apiServerOf({ kubeconfig, clock, silenceMs }), seen };
}

const data = (text: string | Buffer) => Buffer.concat([Buffer.of(0), Buffer.from(text)]);
const problem = (text: string) => Buffer.concat([Buffer.of(1), Buffer.from(text)]);
const never = new AbortController().signal;

describe("a connection to a port of a pod", () => {
  it("carries bytes both ways, whatever messages they come in, and the user's credentials", async () => {
    const { api, seen } = await apiServer({
      node: (socket) =>
        socket.on("message", (message: Buffer) => {
          for (const byte of message.subarray(1)) socket.send(data(Buffer.of(byte)));
          if (message.includes("!")) socket.close();
        }),
    });
    const stream = await api.connectToPod(POD, never);
    stream.write("hello");
    stream.end(" pod!");
    expect((await buffer(stream)).toString()).toBe("hello pod!");
    expect(seen[0]?.url).toBe("/api/v1/namespaces/gloo-mesh/pods/server-a/portforward?ports=9091");
    expect(seen[0]?.headers).toMatchObject({ authorization: "Bearer right", "sec-websocket-protocol": "v4.channel.k8s.io" });
  });

  it("gives what comes right behind the handshake", async () => {
    const { api } = await apiServer({
      node: (socket) => {
        socket.send(data("first"));
        socket.close();
      },
    });
    const stream = await api.connectToPod(POD, never);
    await sleep(50);
    expect((await buffer(stream)).toString()).toBe("first");
  });

  it("slows the pod down to how fast it is read", async () => {
    let sent = 0;
    const { api } = await apiServer({
      node: (socket) => {
        const more = (): void => {
          sent += 32 * 1024;
          if (sent < 256 * 1024 * 1024) socket.send(data(Buffer.alloc(32 * 1024)), more);
        };
        more();
      },
    });
    const stream = await api.connectToPod(POD, never);
    await once(stream, "readable");
    for (let before = -1; sent !== before; await sleep(200)) before = sent;
    // Sockets of the loopback hold some megabytes.
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    stream.destroy();
  });

  it.each([
    [
      "the user may not",
      {
        kind: "Status",
        code: 403,
        reason: "Forbidden",
        message: 'pods "server-a" is forbidden: User "u" cannot get resource "pods/portforward"',
      },
      403,
      { code: "Forbidden", message: expect.stringContaining('cannot get resource "pods/portforward"') },
    ],
    [
      "there is no such pod",
      { kind: "Status", code: 404, reason: "NotFound", details: { kind: "pods" }, message: 'pods "server-a" not found' },
      404,
      { code: "NotFound", message: expect.stringContaining('pods "server-a" not found') },
    ],
    [
      "the node does not answer",
      { kind: "Status", code: 500, message: "dial tcp 10.0.0.1:10250: connection refused" },
      500,
      { code: "Unavailable" },
    ],
  ])("says in the API server's words that %s", async (_, body, status, error) => {
    const { api } = await apiServer({ refuse: (_, response) => answer(response, status, body) });
    await expect(api.connectToPod(POD, never)).rejects.toMatchObject(error);
  });

  it("renews credentials that are refused once, and no more", async () => {
    const { api, seen } = await apiServer({ refuse: (_, response) => answer(response, 401, { kind: "Status", code: 401 }) });
    await expect(api.connectToPod(POD, never)).rejects.toMatchObject({ code: "Forbidden" });
    expect(seen).toHaveLength(2);
  });

  it("follows no redirect", async () => {
    const elsewhere = await apiServer({ refuse: (_, response) => response.end() });
    const { api } = await apiServer({ refuse: (_, response) => response.writeHead(302, { location: elsewhere.api.address }).end() });
    await expect(api.connectToPod(POD, never)).rejects.toMatchObject({ message: expect.stringContaining("302") });
    expect(elsewhere.seen).toEqual([]);
  });

  it("fails with what the node says of the port", async () => {
    const { api } = await apiServer({ node: (socket) => socket.send(problem("connect: connection refused")) });
    const stream = await api.connectToPod(POD, never);
    await expect(buffer(stream)).rejects.toMatchObject({
      code: "Unavailable",
      message: "port 9091 of Pod gloo-mesh/server-a: connect: connection refused",
    });
  });

  it("ends with a signal, and gives up on an API server that says nothing", async () => {
    const ending = new AbortController();
    const { api } = await apiServer({ node: () => undefined });
    const stream = await api.connectToPod(POD, ending.signal);
    ending.abort(new Error("enough"));
    await expect(buffer(stream)).rejects.toThrow("enough");
    const silent = await apiServer({ refuse: () => undefined, silenceMs: 300 });
    await expect(silent.api.connectToPod(POD, never)).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("handshake has timed out"),
    });
    await expect(silent.api.connectToPod(POD, ending.signal)).rejects.toThrow("enough");
  });

  it.each([
    ["a message that is too large", (socket: WebSocket) => socket.send(Buffer.alloc(2 * 1024 * 1024)), /Max payload size exceeded/],
    ["text", (socket: WebSocket) => socket.send("hello"), /does not answer with bytes/],
    ["an empty message", (socket: WebSocket) => socket.send(Buffer.alloc(0)), /does not answer with bytes/],
  ])("does not take %s", async (_, node, message) => {
    const { api } = await apiServer({ node });
    await expect(buffer(await api.connectToPod(POD, never))).rejects.toThrow(message);
  });

  it("does not take another protocol", async () => {
    const { api } = await apiServer({ node: () => undefined, protocol: "v9.channel.k8s.io" });
    await expect(api.connectToPod(POD, never)).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("subprotocol"),
    });
  });
});
