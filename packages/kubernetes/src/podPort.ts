import type { IncomingMessage } from "node:http";
import { Duplex } from "node:stream";
import { messageOf } from "@isthmus/core";
import { ClusterError } from "@isthmus/ports";
import { type RawData, WebSocket } from "ws";
import type { ApiAccess, Connection } from "./connection.ts";
import { readResponse } from "./request.ts";
import { errorOf } from "./statusError.ts";

/** A TCP port in a pod. */
export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

export interface PodPortOptions {
  readonly connection: Connection;
  /** How long the API server may take to open the connection. */
  readonly handshakeMs: number;
}

/**
 * One connection to a port of a pod, from the pod's own loopback interface, through the API server and the node: no port is opened here. Rejects
 * with ClusterError, such as `Forbidden` without the permissions for pods/portforward; what goes wrong later destroys the stream with one.
 */
export async function connectToPod({ connection, handshakeMs }: PodPortOptions, to: PodPort, signal: AbortSignal): Promise<Duplex> {
  const path = `/api/v1/namespaces/${encodeURIComponent(to.namespace)}/pods/${encodeURIComponent(to.pod)}/portforward`;
  const handshake = { path, port: to.port, handshakeMs };
  const access = await connection.access();
  const first = await opened(connection, access, handshake, signal);
  if (first !== "unauthorized") return streamOf(first, to, signal);
  const second = await opened(connection, await connection.access(access), handshake, signal);
  if (second === "unauthorized") throw new ClusterError("Forbidden", `the API server ${connection.server} does not accept the credentials`);
  return streamOf(second, to, signal);
}

interface Handshake {
  readonly path: string;
  readonly port: number;
  readonly handshakeMs: number;
}

// Each message begins with its channel: 0 carries the bytes of the connection, 1 says what went wrong. Source: kubernetes
// pkg/kubelet, cri/streaming/portforward/websocket.go.
const PROTOCOL = "v4.channel.k8s.io";
const DATA = 0;
// Nodes send 32 KiB at most at a time.
const MAX_MESSAGE = 1024 * 1024;

/** The WebSocket to the API server, open; "unauthorized" where the credentials have to be renewed. */
async function opened(
  { server }: Connection,
  { credentials, streamAgent }: ApiAccess,
  { path, port, handshakeMs }: Handshake,
  signal: AbortSignal,
): Promise<WebSocket | "unauthorized"> {
  signal.throwIfAborted();
  // https becomes wss.
  const socket = new WebSocket(`ws${server.slice("http".length)}${path}?ports=${port}`, [PROTOCOL], {
    headers: { "user-agent": "gloo-mesh/isthmus", ...credentials.headers },
    agent: streamAgent,
    handshakeTimeout: handshakeMs,
    maxPayload: MAX_MESSAGE,
    perMessageDeflate: false,
    // A redirect could lead the credentials elsewhere.
    followRedirects: false,
  });
  const abort = () => socket.terminate();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await new Promise<WebSocket | "unauthorized">((resolve, reject) => {
      socket.once("open", () => {
        // What comes right behind the handshake is for the one who reads the stream.
        socket.pause();
        resolve(socket);
      });
      socket.once("error", (error) => {
        const unreachable = `cannot open a connection to a pod through the API server ${server}: ${messageOf(error)}`;
        reject(signal.aborted ? signal.reason : new ClusterError("Unavailable", unreachable, {}, error));
      });
      socket.once("unexpected-response", (request, response: IncomingMessage) => {
        const ended = () => request.destroy();
        if (response.statusCode === 401) {
          ended();
          resolve("unauthorized");
        } else refusalOf(response, { server, path }, signal).then(reject, reject).finally(ended);
      });
    });
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

async function refusalOf(
  response: IncomingMessage,
  { server, path }: { readonly server: string; readonly path: string },
  signal: AbortSignal,
): Promise<ClusterError> {
  return errorOf(await readResponse(response, { server }, signal), { method: "GET", path });
}

/** The bytes of the connection that a WebSocket carries. A reader that is slow slows the pod down; ending it ends nothing on the other side. */
function streamOf(socket: WebSocket, { namespace, pod, port }: PodPort, signal: AbortSignal): Duplex {
  const begun = new Set<number>();
  const stream = new Duplex({
    read: () => socket.resume(),
    write: (chunk: Buffer, _, done) => socket.send(Buffer.concat([Buffer.of(DATA), chunk]), done),
    final: (done) => done(),
    destroy: (error, done) => {
      signal.removeEventListener("abort", abort);
      socket.terminate();
      done(error);
    },
  });
  const fail = (problem: string, cause?: unknown): void => {
    stream.destroy(new ClusterError("Unavailable", `port ${port} of Pod ${namespace}/${pod}: ${problem}`, {}, cause));
  };
  function abort(): void {
    stream.destroy(signal.reason);
  }
  signal.addEventListener("abort", abort, { once: true });
  socket.on("message", (data: RawData, isBinary) => {
    const message = Buffer.isBuffer(data) ? data : Buffer.alloc(0);
    const [channel] = message;
    if (!isBinary || channel === undefined) return fail("the node does not answer with bytes");
    // The first message of each channel only has the number of the port.
    const bytes = message.subarray(begun.has(channel) ? 1 : 1 + PORT_BYTES);
    begun.add(channel);
    if (bytes.length === 0) return;
    if (channel !== DATA) fail(bytes.toString("utf8", 0, LONGEST_PROBLEM).trim());
    else if (!stream.push(bytes)) socket.pause();
  });
  socket.on("error", (error) => fail(messageOf(error), error));
  socket.on("close", () => stream.push(null));
  return stream;
}

const PORT_BYTES = 2;
const LONGEST_PROBLEM = 500;
