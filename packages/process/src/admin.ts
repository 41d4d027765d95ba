import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import { messageOf } from "@isthmus/core";
import { type Authorize, adminAuthorizer } from "./adminAuthorizer.ts";
import { sendText, startHttpServer } from "./httpServer.ts";
import type { Metrics } from "./metrics.ts";
import { readTlsFiles, type TlsFiles, watchTlsFiles } from "./tlsFiles.ts";

/** A page that only some may read: gives its text bit by bit. An empty bit lets others have their turn. */
export interface Page {
  (query: URLSearchParams): Iterable<string>;
  /** Default: JSON. */
  readonly contentType?: string;
}

/** A page for which others must be asked first. Who reads it waits for them. */
export interface AsyncPage {
  (query: URLSearchParams): Promise<Iterable<string>>;
  readonly contentType?: string;
}

/** The same page, for scrapers of Prometheus. */
export function textPage(page: (query: URLSearchParams) => Iterable<string>): Page {
  return Object.assign((query: URLSearchParams) => page(query), { contentType: "text/plain; version=0.0.4; charset=utf-8" });
}

export interface AdminOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly isReady: () => boolean;
  readonly metrics: Pick<Metrics, "contentType" | "text">;
  /** By path. They tell of the clusters: the one who asks needs a token that `authorize` confirms, but for this very machine. */
  readonly pages?: Readonly<Record<string, Page | AsyncPage>>;
  readonly authorize?: Authorize;
  /** The port speaks TLS with this certificate, and nothing else. Default: plain HTTP. */
  readonly tls?: TlsFiles;
  /** How long a request may take to come, in milliseconds. Default: 10 s. */
  readonly requestMs?: number;
  /** Of all addresses together. Default: 1024. */
  readonly maxConnections?: number;
}

/**
 * Serves /metrics, /healthz and /readyz to everybody, and pages to those who may read them. Rejects with UsageError when
 * the port is taken, or for a certificate that cannot be used.
 */
export async function startAdmin(options: AdminOptions): Promise<{ readonly port: number; close(): Promise<void> }> {
  const stop = new AbortController();
  const { host, port, tls, requestMs, maxConnections = MAX_CONNECTIONS } = options;
  const context: Context = { ...options, admit: adminAuthorizer(options.authorize, tls !== undefined), signal: stop.signal };
  const server = await startHttpServer({
    host,
    port,
    answer: (request, response) => answer(request, response, context),
    // The reader has gone, or what was to be shown could not be made: nobody else is concerned.
    failed: messageOf,
    connections: { perAddress: MAX_PER_ADDRESS, inAll: maxConnections },
    requestMs,
    tls: tls === undefined ? undefined : readTlsFiles(tls),
    remedy: "set another with --admin-port",
  });
  const following = tls === undefined ? undefined : watchTlsFiles(tls, server.setSecureContext);
  return {
    port: server.port,
    close: () => {
      stop.abort(new Error("the program is shutting down"));
      following?.stop();
      return server.close();
    },
  };
}

const MAX_PER_ADDRESS = 64;
const MAX_CONNECTIONS = 1_024;

interface Context extends AdminOptions {
  readonly admit: ReturnType<typeof adminAuthorizer>;
  readonly signal: AbortSignal;
}

async function answer(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const { isReady, metrics, pages = {}, admit, signal } = context;
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  if (request.method !== "GET" && request.method !== "HEAD") return tell(response, 405, "only GET and HEAD are supported");
  switch (pathname) {
    case "/healthz":
      return tell(response, 200, "ok");
    case "/readyz":
      return isReady() ? tell(response, 200, "ready") : tell(response, 503, "not ready yet");
    case "/metrics":
      return void response.writeHead(200, { "content-type": metrics.contentType }).end(await metrics.text());
  }
  const page = Object.hasOwn(pages, pathname) ? pages[pathname] : undefined;
  if (page === undefined) {
    return tell(response, 404, `not found; available: ${["/metrics", "/healthz", "/readyz", ...Object.keys(pages)].join(", ")}`);
  }
  const verdict = await admit(request, pathname, signal);
  if ("refused" in verdict) return tell(response, verdict.refused, verdict.reason);
  await stream(response, { text: await page(searchParams), contentType: page.contentType }, signal);
}

/** No faster than the reader takes it, and with pauses in which the program does its real work. */
async function stream(
  response: ServerResponse,
  { text, contentType = "application/json" }: { readonly text: Iterable<string>; readonly contentType: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort(new Error("the client disconnected")));
  const either = AbortSignal.any([signal, gone.signal]);
  response.writeHead(200, { "content-type": contentType, "cache-control": "no-store" });
  let length = 0;
  for (const part of text) {
    either.throwIfAborted();
    length += part.length;
    if (part !== "" && !response.write(part)) await once(response, "drain", { signal: either });
    if (part === "" || length > AT_ONCE) {
      length = 0;
      await turn(undefined, { signal: either });
    }
  }
  response.end();
}

const AT_ONCE = 64 * 1024;

function tell(response: ServerResponse, status: number, text: string): void {
  sendText(response, status, text, status === 401 ? { "www-authenticate": "Bearer" } : {});
}
