import { constants } from "node:crypto";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createServer, type SecureContextOptions, type Server, type TLSSocket } from "node:tls";
import { type Clock, keptText, type Log, messageOf, semaphore, uptimeOf } from "@isthmus/core";
import type { Query } from "../session/queries.ts";
import type { ReplicaKeys } from "./replicaKeys.ts";
import { TLS_POLICY } from "./tlsPolicy.ts";

export interface ReplicaPortOptions {
  /** Address, or a name of one. */
  readonly host: string;
  /** 9978 by custom; 0 takes any that is free. */
  readonly port: number;
  readonly keys: ReplicaKeys;
  /** The name of this replica: queries for another one are turned down. */
  readonly name: string;
  /** Rejects for what it has no answer to. */
  readonly answer: (query: Query) => Promise<Uint8Array>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The port of an agent for its other replicas. */
export interface ReplicaPort {
  /** That it listens on; rejects when it ended before it did. */
  readonly listening: Promise<number>;
  /** Resolves when it was aborted and has closed its port. */
  readonly ended: Promise<void>;
}

/**
 * Both ends are ours. TLS 1.3 signs differently as a server and as a client, which here have the same key. No tickets: each connection proves by itself
 * that its other end has the key.
 */
export const REPLICA_TLS = {
  ...TLS_POLICY,
  minVersion: "TLSv1.3",
  secureOptions: TLS_POLICY.secureOptions | constants.SSL_OP_NO_TICKET,
} satisfies SecureContextOptions;

/** The header of a query that names the replica that it is for: an address alone may lead to another one. */
export const REPLICA_HEADER = "x-replica";

/** Where a query is sent, before its topic. */
export const QUERY_PATH = "/queries/";

/**
 * Answers queries of the other replicas of this agent, one on each connection, until `signal` is aborted: POST /queries/TOPIC. Of one who has not
 * shown the certificate of the agent nothing but the handshake is read. A port that cannot be had is tried again every 10 s.
 */
export function startReplicaPort(options: ReplicaPortOptions, signal: AbortSignal): ReplicaPort {
  const { host, port, keys, clock, log } = options;
  const open = new Map<Socket, string>();
  let saidAt = Number.NEGATIVE_INFINITY;
  const http = createHttpServer({ maxHeaderSize: 8 * 1024 }, answering(options));
  const server = createServer({ ...REPLICA_TLS, requestCert: true, rejectUnauthorized: false, handshakeTimeout: HANDSHAKE_MS });
  const use = () => {
    const { identity } = keys;
    if (identity !== undefined) server.setSecureContext({ ...REPLICA_TLS, cert: identity.certificate, key: identity.key });
  };
  keys.onChange(use);
  use();
  server.on("connection", (socket: Socket) => {
    const { remoteAddress = "" } = socket;
    const fromThere = [...open.values()].filter((address) => address === remoteAddress).length;
    if (open.size >= MOST_CONNECTIONS || fromThere >= MOST_OF_ADDRESS) return void socket.destroy();
    open.set(socket, remoteAddress);
    const timer = setTimeout(() => socket.destroy(), CONNECTION_MS);
    socket.once("close", () => {
      clearTimeout(timer);
      open.delete(socket);
    });
  });
  // Who ends a handshake early harms nobody else.
  server.on("tlsClientError", (_, socket) => socket.destroy());
  server.on("secureConnection", (socket: TLSSocket) => {
    socket.on("error", () => socket.destroy());
    keys.isReplica(socket.getPeerX509Certificate()).then(
      (isReplica) => {
        if (isReplica) return void http.emit("connection", socket);
        socket.destroy();
        // A flood must not fill the log as well.
        if (uptimeOf(clock) - saidAt < SAYING_MS) return;
        saidAt = uptimeOf(clock);
        log.warn(
          {},
          "refused a connection to the port for replicas: it does not show the certificate of this agent, or one that has expired",
        );
      },
      () => socket.destroy(),
    );
  });
  const listening = listen(server, { host, port, clock, log }, signal);
  listening.catch(() => undefined);
  const ended = listening.then(
    () =>
      new Promise<void>((resolve) => {
        const stop = () => {
          server.close(() => resolve());
          for (const socket of open.keys()) socket.destroy();
        };
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      }),
    () => undefined,
  );
  return { listening, ended };
}

/** What is done with a request of another replica. */
function answering({ name, answer, log }: ReplicaPortOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const places = semaphore(ANSWERED_AT_ONCE);
  return (request, response) => {
    const end = (code: number, body: Uint8Array | string) => response.writeHead(code, { connection: "close" }).end(body);
    const { method, url = "" } = request;
    if (method !== "POST" || !url.startsWith(QUERY_PATH)) return void end(404, `POST ${QUERY_PATH}TOPIC`);
    if (request.headers[REPLICA_HEADER] !== name) return void end(421, `this is replica ${name}`);
    if (places.waiting >= MOST_WAITING) return void end(503, "too many queries at a time");
    const topic = url.slice(QUERY_PATH.length);
    places
      .run(async () => answer({ topic, body: await contentOf(request) }))
      .then(
        (body) => end(200, body),
        (error: unknown) => {
          log.debug({ topic }, `no answer for another replica: ${messageOf(error)}`);
          end(500, keptText(messageOf(error), MOST_MESSAGE));
        },
      );
  };
}

async function contentOf(request: IncomingMessage): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MOST_QUERY_BYTES) throw new RangeError(`a query has at most ${MOST_QUERY_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

async function listen(
  server: Server,
  { host, port, clock, log }: Pick<ReplicaPortOptions, "host" | "port" | "clock" | "log">,
  signal: AbortSignal,
): Promise<number> {
  for (;;) {
    signal.throwIfAborted();
    try {
      const bound = await bind(server, host, port);
      server.on("error", (error) => log.error({}, `the port for replicas failed: ${messageOf(error)}`));
      log.info({ port: bound }, `other replicas of this agent are answered on port ${bound}`);
      return bound;
    } catch (error) {
      log.error(
        { port },
        `cannot listen on ${host}, port ${port}, for other replicas, trying again in ${RETRY_MS / 1_000} s: ${messageOf(error)}: free the port, or set another with --replica-port`,
      );
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

function bind(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

const HANDSHAKE_MS = 3_000;
// Of a whole connection: an answer comes out of memory.
const CONNECTION_MS = 10_000;
const MOST_CONNECTIONS = 100;
const MOST_OF_ADDRESS = 16;
const ANSWERED_AT_ONCE = 4;
const MOST_WAITING = 16;
const MOST_QUERY_BYTES = 64 * 1024;
const MOST_MESSAGE = 512;
const SAYING_MS = 60_000;
const RETRY_MS = 10_000;
