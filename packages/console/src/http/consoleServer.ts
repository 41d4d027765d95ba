import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { type Log, messageOf, UsageError } from "@isthmus/core";
import { limitConnections } from "@isthmus/process/connections";
import type { ConsoleHub } from "../events/hub.ts";
import { STREAM_PATH } from "../wire.ts";
import { SECURITY_HEADERS } from "./headers.ts";
import { isLoopback, isLoopbackHost } from "./loopback.ts";
import { readStaticFiles, type StaticFile, type StaticFiles } from "./staticFiles.ts";
import { acceptsGzip, writeStream } from "./stream.ts";

export interface ConsoleServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly hub: ConsoleHub;
  /** Directory of the pages' files. Default: there are none, and only the stream is served. */
  readonly files?: string;
  readonly log: Log;
  /** Streams at a time. Default: 100. */
  readonly maxStreams?: number;
  /** How long a request may take to come, in milliseconds. Default: 10 s. */
  readonly requestMs?: number;
  /** How long a browser may take for one part of a stream, in milliseconds. Default: 30 s. */
  readonly stalledMs?: number;
}

/** A console that is served. */
export interface ConsoleServer {
  readonly port: number;
  /** Browsers that follow it now. */
  readonly streams: number;
  close(): Promise<void>;
}

/** Serves the console. Rejects with UsageError for an address that is taken, or that others than this machine reach. */
export async function startConsoleServer(options: ConsoleServerOptions): Promise<ConsoleServer> {
  const { host, log, requestMs = REQUEST_MS } = options;
  if (!isLoopback(host))
    throw new UsageError(`the console is served on loopback only: ${host} is reached from elsewhere, and there is no login`);
  const stop = new AbortController();
  const pages = options.files === undefined ? undefined : await readStaticFiles(options.files);
  const context: Context = { ...options, pages, streams: { count: 0 }, signal: stop.signal };
  const listener: RequestListener = (request, response) => {
    answer(request, response, context).catch((error: unknown) => {
      log.warn({}, `the console cannot answer: ${messageOf(error)}`);
      if (response.headersSent) response.destroy();
      else tell(response, 500, "internal error");
    });
  };
  const server = createServer(
    {
      headersTimeout: requestMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: requestMs / 4,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEPT_MS,
    },
    listener,
  );
  server.setTimeout(SILENCE_MS);
  limitConnections(server, { perAddress: MAX_CONNECTIONS, inAll: MAX_CONNECTIONS });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "EADDRINUSE" ? new UsageError(`port ${options.port} on ${host} is already in use`) : error),
    );
    server.listen(options.port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    get streams() {
      return context.streams.count;
    },
    close: () =>
      new Promise((resolve) => {
        stop.abort(new Error("the console is shutting down"));
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

// A request is a few hundred bytes.
const REQUEST_MS = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;
const KEPT_MS = 30_000;
// On a stream the time is sent every few seconds.
const SILENCE_MS = 60_000;
const STALLED_MS = 30_000;
const MAX_STREAMS = 100;
// Each browser may have some for files beside its stream.
const MAX_CONNECTIONS = 1_024;

interface Context extends ConsoleServerOptions {
  readonly pages: StaticFiles | undefined;
  readonly streams: { count: number };
  readonly signal: AbortSignal;
}

async function answer(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
  // Nothing here has a use for content: it is not waited for.
  if (request.headers["content-length"] !== undefined || request.headers["transfer-encoding"] !== undefined)
    response.setHeader("connection", "close");
  if (!isLoopbackHost(request.headers.host)) return tell(response, 421, "this console is served under the names of this machine alone");
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    return tell(response, 405, "only GET and HEAD are supported");
  }
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  if (pathname === STREAM_PATH) return stream(request, response, context);
  if (context.pages === undefined && pathname === "/") return tell(response, 404, NO_PAGES);
  sendFile(request, response, context.pages?.find(pathname));
}

const NO_PAGES = `the pages of the console are not built: only its stream is served, at ${STREAM_PATH}`;

function sendFile(request: IncomingMessage, response: ServerResponse, file: StaticFile | undefined): void {
  if (file === undefined) {
    tell(response, 404, "not found");
    return;
  }
  const { type, content, compressed, etag, isImmutable } = file;
  response.setHeader("cache-control", isImmutable ? "public, max-age=31536000, immutable" : "no-cache");
  response.setHeader("etag", etag);
  response.setHeader("vary", "accept-encoding");
  if (request.headers["if-none-match"] === etag) {
    response.writeHead(304).end();
    return;
  }
  const isGzip = compressed !== undefined && acceptsGzip(request.headers["accept-encoding"]);
  const body = isGzip ? compressed : content;
  response.writeHead(200, { "content-type": type, "content-length": body.length, ...(isGzip ? { "content-encoding": "gzip" } : {}) });
  response.end(request.method === "HEAD" ? undefined : body);
}

async function stream(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const { hub, streams, maxStreams = MAX_STREAMS, stalledMs = STALLED_MS, signal } = context;
  // It could not be read there, but it would take the place of somebody else's.
  if (!["same-origin", "none", undefined].includes(request.headers["sec-fetch-site"] as string | undefined))
    return tell(response, 403, "the stream is for pages of this console");
  if (streams.count >= maxStreams) {
    response.setHeader("retry-after", "10");
    return tell(response, 503, `${maxStreams} browsers follow this console already: close some of them`);
  }
  streams.count++;
  try {
    await writeStream(request, response, { hub, stalledMs }, signal);
  } finally {
    streams.count--;
  }
}

function tell(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" }).end(`${text}\n`);
}
