import { createServer, type IncomingMessage, type RequestListener, type ServerOptions, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { SecureContextOptions } from "node:tls";
import { UsageError } from "@isthmus/core";
import { type ConnectionLimiterOptions, limitConnections } from "./connectionLimiter.ts";

export { type SharedPlaces, sharedPlaces } from "./sharedPlaces.ts";
export { type WrongTokens, wrongTokens } from "./wrongTokens.ts";

export interface HttpServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Answers one request. */
  readonly answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** What the client reads, with status 500, of an answer that rejected. It is also called where the answer had begun: then the connection is cut. */
  readonly failed: (error: unknown) => string;
  readonly connections: ConnectionLimiterOptions;
  /** How long a request may take to come, in milliseconds. Default: 10 s. */
  readonly requestMs?: number | undefined;
  /** The port speaks TLS with this certificate, and nothing else. Default: plain HTTP. */
  readonly tls?: SecureContextOptions | undefined;
  /** What to do about a port that is taken, for people. */
  readonly remedy?: string;
}

/** A port on which requests without content are answered. */
export interface HttpServer {
  readonly port: number;
  /** For connections that come later. Nothing for plain HTTP. */
  setSecureContext(context: SecureContextOptions): void;
  /** Ends all connections at once. */
  close(): Promise<void>;
}

/** Serves HTTP within bounds of time, size and connections. Rejects with UsageError for a port that is taken. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, answer, failed, connections, requestMs = REQUEST_MS, tls, remedy } = options;
  const listener: RequestListener = (request, response) => {
    // Nothing here has a use for content: it is not waited for.
    if (request.headers["content-length"] !== undefined || request.headers["transfer-encoding"] !== undefined)
      response.setHeader("connection", "close");
    answer(request, response).catch((error: unknown) => {
      const text = failed(error);
      if (response.headersSent) response.destroy();
      else sendText(response, 500, text);
    });
  };
  const limits: ServerOptions = {
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: requestMs / 4,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEPT_MS,
  };
  const secure = tls === undefined ? undefined : createTlsServer({ ...limits, ...tls, handshakeTimeout: requestMs }, listener);
  const server = secure ?? createServer(limits, listener);
  server.setTimeout(SILENCE_MS);
  limitConnections(server, connections);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = [`port ${port} on ${host} is already in use`, remedy].filter((text) => text !== undefined).join(": ");
      reject(error.code === "EADDRINUSE" ? new UsageError(taken) : error);
    });
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    setSecureContext: (context) => secure?.setSecureContext(context),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

// A request is a few hundred bytes.
const REQUEST_MS = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;
// Those who come every few seconds keep a connection.
const KEPT_MS = 30_000;
/** For a reader who does not take what was asked for. On a stream something is sent every few seconds. */
const SILENCE_MS = 60_000;

/** Answers with one line of text, which nobody keeps. */
export function sendText(response: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", ...headers }).end(`${text}\n`);
}
