import type { IncomingMessage, ServerResponse } from "node:http";
import { type Log, messageOf, UsageError } from "@isthmus/core";
import { sendText, startHttpServer } from "@isthmus/process/http";
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
  const { host, port, log, requestMs } = options;
  if (!isLoopback(host))
    throw new UsageError(`the console is served on loopback only: ${host} is reached from elsewhere, and there is no login`);
  const stop = new AbortController();
  const pages = options.files === undefined ? undefined : await readStaticFiles(options.files);
  const context: Context = { ...options, pages, streams: { count: 0 }, signal: stop.signal };
  const server = await startHttpServer({
    host,
    port,
    answer: (request, response) => answer(request, response, context),
    failed: (error) => {
      log.warn({}, `the console cannot answer: ${messageOf(error)}`);
      return "internal error";
    },
    connections: { perAddress: MAX_CONNECTIONS, inAll: MAX_CONNECTIONS },
    requestMs,
  });
  return {
    port: server.port,
    get streams() {
      return context.streams.count;
    },
    close: () => {
      stop.abort(new Error("the console is shutting down"));
      return server.close();
    },
  };
}

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
  if (!isLoopbackHost(request.headers.host)) return sendText(response, 421, "this console is served under the names of this machine alone");
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    return sendText(response, 405, "only GET and HEAD are supported");
  }
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  if (pathname === STREAM_PATH) return stream(request, response, context);
  if (context.pages === undefined && pathname === "/") return sendText(response, 404, NO_PAGES);
  sendFile(request, response, context.pages?.find(pathname));
}

const NO_PAGES = `the pages of the console are not built: only its stream is served, at ${STREAM_PATH}`;

function sendFile(request: IncomingMessage, response: ServerResponse, file: StaticFile | undefined): void {
  if (file === undefined) {
    sendText(response, 404, "not found");
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
    return sendText(response, 403, "the stream is for pages of this console");
  if (streams.count >= maxStreams) {
    response.setHeader("retry-after", "10");
    return sendText(response, 503, `${maxStreams} browsers follow this console already: close some of them`);
  }
  streams.count++;
  try {
    await writeStream(request, response, { hub, stalledMs }, signal);
  } finally {
    streams.count--;
  }
}
