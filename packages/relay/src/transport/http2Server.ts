import http2, { type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { SecureContextOptions } from "node:tls";
import { type ConnectionGuard, MAX_CALL_BYTES } from "./connectionGuard.ts";
import { connectMethod } from "./serviceDefinition.ts";
import { TLS_POLICY } from "./tlsPolicy.ts";

/**
 * Receive windows of a server, per stream and per connection, in bytes, as soon as it is known who is at the other end. With
 * HTTP/2's own 64 KB, 10 MB over a line of 50 ms take 15 s; with this a third of a second (measured). The gRPC library has no
 * setting for it on servers.
 */
export const WINDOW_BYTES = 8 * 1024 * 1024;

/** Streams at a time on one connection: an agent has one, and another for a call; before it is known who is there, fewer. */
const [FEW_STREAMS, STREAMS] = [4, 16] as const;

/** Streams that a connection may open, one after the other, before it is known who is there: some open them without end, and reset each at once. */
const STREAMS_OF_STRANGERS = 100;

/** What is allowed on a connection, whoever is at its other end. */
const CONNECTION_OPTIONS = {
  // Of which an agent's call has a dozen, and some 2 KB.
  maxHeaderListPairs: 64,
  // In MB: above it no new stream is opened. Agents have one.
  maxSessionMemory: 16,
  // Who does not speak HTTP/2 has nothing to say.
  unknownProtocolTimeout: 1_000,
  handshakeTimeout: 10_000,
} as const;

const SETTINGS = { maxConcurrentStreams: FEW_STREAMS, maxHeaderListSize: 16 * 1024, enablePush: false };

/**
 * Runs `bind`, in which the gRPC library makes its HTTP/2 server, with our limits on that server: of TLS, of connections, and of
 * what is read before it is known from whom. Throws when the library did not make one the way we know: an upgrade of it must not
 * undo this silently.
 */
export async function withOurServer<T>(
  bind: () => Promise<T>,
  { guard, callMs }: { readonly guard: ConnectionGuard; readonly callMs: number },
): Promise<T> {
  const original = http2.createSecureServer;
  let made = 0;
  const limited = (options: http2.SecureServerOptions, ...rest: []) => {
    made++;
    const settings = { ...options.settings, ...SETTINGS };
    const server = original({ ...options, ...CONNECTION_OPTIONS, ...TLS_POLICY, settings }, ...rest);
    // The library exchanges certificates by it, and knows nothing of the rest.
    const setSecureContext = server.setSecureContext.bind(server);
    server.setSecureContext = (context: SecureContextOptions) => setSecureContext({ ...context, ...TLS_POLICY });
    server.on("connection", guard.connected);
    /** Of each connection on which it is not known who is there: how many streams it has opened. */
    const strangers = new WeakMap<object, number>();
    server.on("session", (session) => {
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
    return server;
  };
  Object.assign(http2, { createSecureServer: limited });
  try {
    const result = await bind();
    if (made === 0)
      throw new Error("the gRPC library no longer makes its server through http2.createSecureServer: it would be without our limits");
    return result;
  } finally {
    Object.assign(http2, { createSecureServer: original });
  }
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
    stream.close(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
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
    if (bytes > MAX_CALL_BYTES && !stream.closed) stream.close(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  stream.on("data", count);
  if (isStream) return;
  const timer = setTimeout(() => stream.close(http2.constants.NGHTTP2_CANCEL), callMs);
  stream.once("close", () => clearTimeout(timer));
}
