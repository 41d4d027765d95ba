import {
  constants,
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type Http2Server as PlainHttp2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type Settings,
} from "node:http2";
import type { Socket } from "node:net";
import type { SecureContextOptions } from "node:tls";
import { UsageError } from "@isthmus/core";
import type { ConnectionGuard } from "./connectionGuard.ts";

/**
 * Receive windows of a server, per stream and per connection, in bytes, as soon as it is known who is at the other end. With
 * HTTP/2's own 64 KB, 10 MB over a line of 50 ms take 15 s; with this a third of a second (measured). The gRPC library has no
 * setting for it on servers (docs/decisions/0044-our-own-http2-server.md).
 */
export const WINDOW_BYTES = 8 * 1024 * 1024;

/** Streams that a connection may open, one after the other, before it is known who is there: some open them without end, and reset each at once. */
const STREAMS_OF_STRANGERS = 100;

/** What is allowed on a connection, no matter who is on its other end. */
const CONNECTION_OPTIONS = {
  // Of which an agent's call has a dozen, and some 2 KB.
  maxHeaderListPairs: 64,
  // In MB: above it no new stream is opened. Agents have one.
  maxSessionMemory: 16,
  // As in the gRPC library: the headers that we send are our own.
  maxSendHeaderBlockLength: Number.MAX_SAFE_INTEGER,
} as const;

const TLS_OPTIONS = {
  // Who does not speak HTTP/2 has nothing to say.
  unknownProtocolTimeout: 1_000,
  handshakeTimeout: 10_000,
} as const;

/** A running HTTP/2 server. */
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
  /** What to do where the port is in use. */
  readonly remedy: string;
  /** Certificate, key and the authorities of client certificates. Undefined: plaintext, spoken without an upgrade. */
  readonly tls: SecureContextOptions | undefined;
  readonly guard: ConnectionGuard;
  /** Streams at a time on one connection, before and after it is known who is there. */
  readonly streams: { readonly few: number; readonly many: number };
  /** Whether who is known may send `WINDOW_BYTES` ahead. Default: HTTP/2's own 64 KB. */
  readonly widens?: boolean;
  /** Called with each stream before it is served: may limit and end it. */
  readonly limitStream: StreamLimiter;
  /** Serves calls: called once, before the server listens. */
  readonly serve: (server: AnyHttp2Server) => void;
}

type AnyHttp2Server = Http2SecureServer | PlainHttp2Server;

/** Keeps what one stream may cost small; `isKnown`: whether it is known who is at the other end of the connection. */
export type StreamLimiter = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, isKnown: () => boolean) => void;

/**
 * Starts an HTTP/2 server with our limits: of TLS, of connections, and of what is read before it is known from whom. It asks for a client
 * certificate, and lets through who has none, so that registration works on the same port. Rejects with UsageError when it cannot listen.
 */
export async function startHttp2Server(options: Http2ServerOptions): Promise<Http2Server> {
  const { tls, guard, streams, widens = false, limitStream, serve } = options;
  const settings = { maxConcurrentStreams: streams.few, maxHeaderListSize: 16 * 1024, enablePush: false };
  const server = serverOf(tls, settings);
  const sessions = new Set<ServerHttp2Session>();
  /** Of each connection on which it is not known who is there: how many streams it has opened. */
  const strangers = new WeakMap<object, number>();
  /** All connections that are open, also those on which nobody has spoken TLS yet: they have no session. */
  const sockets = new Set<Socket>();
  // In plaintext its session begins with it: the guard has to know it before.
  server.prependListener("connection", (socket) => {
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
      if (session.destroyed || session.closed) return;
      if (widens) session.setLocalWindowSize(WINDOW_BYTES);
      session.settings({ ...settings, maxConcurrentStreams: streams.many, ...(widens ? { initialWindowSize: WINDOW_BYTES } : {}) });
    });
  });
  server.on("stream", (stream, headers) => {
    const { session } = stream;
    if (session === undefined) return;
    const opened = (strangers.get(session) ?? 0) + 1;
    if (strangers.has(session)) strangers.set(session, opened);
    if (opened > STREAMS_OF_STRANGERS) guard.abused(session);
    else limitStream(stream, headers, () => !strangers.has(session));
  });
  serve(server);
  const bound = await listening(server, options);
  return {
    port: bound,
    setTls(context) {
      if ("setSecureContext" in server) server.setSecureContext(context);
    },
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

function serverOf(tls: SecureContextOptions | undefined, settings: Settings): AnyHttp2Server {
  if (tls === undefined) return createServer({ ...CONNECTION_OPTIONS, settings });
  return createSecureServer({ ...CONNECTION_OPTIONS, ...TLS_OPTIONS, ...tls, requestCert: true, rejectUnauthorized: false, settings });
}

function listening(server: AnyHttp2Server, { host, port, remedy }: Pick<Http2ServerOptions, "host" | "port" | "remedy">): Promise<number> {
  return new Promise((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => {
      const where = `${host.includes(":") ? `[${host}]` : host}:${port}`;
      reject(
        new UsageError(
          `cannot listen on ${where}: ${error.code === "EADDRINUSE" ? `the port is already in use: ${remedy}` : error.message}`,
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
