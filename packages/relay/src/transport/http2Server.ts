import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import type { SecureContextOptions } from "node:tls";
import { UsageError } from "@isthmus/core";
import { type ConnectionGuard, MAX_CALL_BYTES } from "./connectionGuard.ts";
import { connectMethod } from "./serviceDefinition.ts";

/**
 * Receive windows of a server, per stream and per connection, in bytes, as soon as it is known who is at the other end. With
 * HTTP/2's own 64 KB, 10 MB over a line of 50 ms take 15 s; with this a third of a second (measured). The gRPC library has no
 * setting for it on servers (docs/decisions/0044-our-own-http2-server.md).
 */
export const WINDOW_BYTES = 8 * 1024 * 1024;

/** Streams at a time on one connection: an agent has one, and another for a call; before it is known who is there, fewer. */
const [FEW_STREAMS, STREAMS] = [4, 16] as const;

/** Streams that a connection may open, one after the other, before it is known who is there: some open them without end, and reset each at once. */
const STREAMS_OF_STRANGERS = 100;

/** What is allowed on a connection, no matter who is on its other end. */
const CONNECTION_OPTIONS = {
  // Of which an agent's call has a dozen, and some 2 KB.
  maxHeaderListPairs: 64,
  // In MB: above it no new stream is opened. Agents have one.
  maxSessionMemory: 16,
  // Who does not speak HTTP/2 has nothing to say.
  unknownProtocolTimeout: 1_000,
  handshakeTimeout: 10_000,
  // As in the gRPC library: the headers that we send are our own.
  maxSendHeaderBlockLength: Number.MAX_SAFE_INTEGER,
} as const;

const SETTINGS = { maxConcurrentStreams: FEW_STREAMS, maxHeaderListSize: 16 * 1024, enablePush: false };

/** A running HTTP/2 server on TLS. */
export interface Http2Server {
  /** That it listens on. */
  readonly port: number;
  /** New connections see the new certificates; open ones live on. */
  setTls(context: SecureContextOptions): void;
  /** Refuses new connections, lets calls end for `graceMs`, in milliseconds, and then ends all that are left. */
  close(graceMs: number): Promise<void>;
}

export interface Http2ServerOptions {
  /** Address, or a name of one. */
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Certificate, key and the authorities of client certificates. */
  readonly tls: SecureContextOptions;
  readonly guard: ConnectionGuard;
  /** How long a call may take that is not the relay's stream, in milliseconds. */
  readonly callMs: number;
  /** Serves calls: called once, before the server listens. */
  readonly serve: (server: Http2SecureServer) => void;
}

/**
 * Starts an HTTP/2 server with our limits: of TLS, of connections, and of what is read before it is known from whom. It asks for a client
 * certificate, and lets through who has none, so that registration works on the same port. Rejects with UsageError when it cannot listen.
 */
export async function startHttp2Server({ host, port, tls, guard, callMs, serve }: Http2ServerOptions): Promise<Http2Server> {
  const server = createSecureServer({ ...CONNECTION_OPTIONS, ...tls, requestCert: true, rejectUnauthorized: false, settings: SETTINGS });
  const sessions = new Set<ServerHttp2Session>();
  /** Of each connection on which it is not known who is there: how many streams it has opened. */
  const strangers = new WeakMap<object, number>();
  /** All connections that are open, also those on which nobody has spoken TLS yet: they have no session. */
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    guard.connected(socket);
  });
  // Whose connection breaks is seen as its session ends.
  server.on("secureConnection", (socket) => void socket.on("error", () => undefined));
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    strangers.set(session, 0);
    guard.opened(session, () => {
      strangers.delete(session);
      widen(session);
    });
  });
  server.on("stream", (stream, headers) => {
    const { session } = stream;
    if (session === undefined) return;
    const opened = (strangers.get(session) ?? 0) + 1;
    if (strangers.has(session)) strangers.set(session, opened);
    if (opened > STREAMS_OF_STRANGERS) guard.abused(session);
    else limitCall(stream, headers, { callMs, isKnown: () => !strangers.has(session) });
  });
  serve(server);
  const bound = await listening(server, { host, port });
  return {
    port: bound,
    setTls: (context) => server.setSecureContext(context),
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      const timer = setTimeout(() => {
        for (const session of sessions) session.destroy(undefined, constants.NGHTTP2_CANCEL);
        // After what sessions still have to say.
        setImmediate(() => {
          for (const socket of sockets) socket.destroy();
        });
      }, graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function listening(server: Http2SecureServer, { host, port }: Pick<Http2ServerOptions, "host" | "port">): Promise<number> {
  return new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => {
      const where = `${host.includes(":") ? `[${host}]` : host}:${port}`;
      reject(
        new UsageError(
          `cannot listen on ${where}: ${error.code === "EADDRINUSE" ? "the port is already in use: set another with --port" : error.message}`,
        ),
      );
    };
    server.once("error", refused);
    server.listen({ host, port }, () => {
      server.off("error", refused);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

/** For an agent: it sends much. */
function widen(session: ServerHttp2Session): void {
  if (session.destroyed || session.closed) return;
  session.setLocalWindowSize(WINDOW_BYTES);
  session.settings({ ...SETTINGS, initialWindowSize: WINDOW_BYTES, maxConcurrentStreams: STREAMS });
}

interface CallLimits {
  readonly callMs: number;
  /** Whether it is known who is at the other end of the connection. */
  readonly isKnown: () => boolean;
}

/** Ends a call that sends too much or takes too long: any but the relay's stream of who is known, for which the library's one limit is made. */
function limitCall(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, { callMs, isKnown }: CallLimits): void {
  const encoding = headers["grpc-encoding"];
  // A few bytes could become megabytes; nobody of ours compresses this way.
  if (encoding !== undefined && encoding !== "identity") {
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    return;
  }
  const isStream = headers[":path"] === connectMethod.path;
  let bytes = 0;
  const count = (data: Buffer) => {
    if (isStream && isKnown()) {
      stream.off("data", count);
      return;
    }
    bytes += data.length;
    if (bytes > MAX_CALL_BYTES && !stream.closed) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  stream.on("data", count);
  if (isStream) return;
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), callMs);
  stream.once("close", () => clearTimeout(timer));
}
