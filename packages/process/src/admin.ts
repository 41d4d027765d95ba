import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import { messageOf } from "@isthmus/core";
import { type Authorize, adminAuthorizer } from "./adminAuthorizer.ts";
import { sendText, startHttpServer } from "./httpServer.ts";
import type { Metrics } from "./metrics.ts";
import { type AsyncPage, type Page, PageRefusal, type PostPage, pageAt, type TypedPage, type TypedText } from "./pages.ts";
import { readTlsFiles, type TlsFiles, watchTlsFiles } from "./tlsFiles.ts";

export interface AdminOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly isReady: () => boolean;
  readonly metrics: Pick<Metrics, "contentType" | "text">;
  /** By path. They tell of the clusters: the one who asks needs a token that `authorize` confirms, but for this very machine. */
  readonly pages?: Readonly<Record<string, Page | AsyncPage | TypedPage>>;
  /** The same for what is asked by POST, with a text of at most 64 KiB. */
  readonly posts?: Readonly<Record<string, PostPage>>;
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
  const { isReady, metrics, pages = {}, posts = {}, admit, signal } = context;
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  const post = request.method === "POST" && Object.hasOwn(posts, pathname) ? posts[pathname] : undefined;
  if (request.method !== "GET" && request.method !== "HEAD" && post === undefined)
    return tell(response, 405, "only GET and HEAD are supported");
  // A page of another site in a browser of this machine has nothing to ask here.
  if (post !== undefined && request.headers.origin !== undefined) return tell(response, 403, "not available to pages of other sites");
  switch (pathname) {
    case "/healthz":
      return tell(response, 200, "ok");
    case "/readyz":
      return isReady() ? tell(response, 200, "ready") : tell(response, 503, "not ready yet");
    case "/metrics":
      return void response.writeHead(200, { "content-type": metrics.contentType }).end(await metrics.text());
  }
  const page = post === undefined ? pageAt(pages, pathname, searchParams) : undefined;
  if (page === undefined && post === undefined) {
    const available = ["/metrics", "/healthz", "/readyz", ...Object.keys(pages), ...Object.keys(posts).map((path) => `${path} (POST)`)];
    return tell(response, 404, `not found; available: ${available.join(", ")}`);
  }
  const verdict = await admit(request, pathname, signal);
  if ("refused" in verdict) return tell(response, verdict.refused, verdict.reason);
  try {
    if (post !== undefined) await streamAnswer(response, { request, query: searchParams, post }, signal);
    else if (page !== undefined) await stream(response, await page(searchParams), signal);
  } catch (error) {
    if (!(error instanceof PageRefusal) || response.headersSent) throw error;
    tell(response, error.status, error.message);
  }
}

/** As the answers come, until the reader has gone. */
async function streamAnswer(
  response: ServerResponse,
  { request, query, post }: { readonly request: IncomingMessage; readonly query: URLSearchParams; readonly post: PostPage },
  signal: AbortSignal,
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort(new Error("the client disconnected")));
  const either = AbortSignal.any([signal, gone.signal]);
  const parts = post(query, await contentOf(request), either)[Symbol.asyncIterator]();
  try {
    for (let part = await parts.next(); part.done !== true; part = await parts.next()) {
      either.throwIfAborted();
      if (!response.headersSent) response.writeHead(200, HEADERS);
      if (!response.write(part.value)) await once(response, "drain", { signal: either });
    }
    if (!response.headersSent) response.writeHead(200, HEADERS);
    response.end();
  } finally {
    await parts.return?.();
  }
}

async function contentOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_CONTENT) throw new PageRefusal(400, `more than ${MOST_CONTENT / 1024} KiB were sent: ask for less`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const MOST_CONTENT = 64 * 1024;
const HEADERS = { "content-type": "application/json", "cache-control": "no-store", "x-content-type-options": "nosniff" };

/** No faster than the reader takes it, and with pauses in which the program does its real work. */
async function stream(response: ServerResponse, content: Iterable<string> | TypedText, signal: AbortSignal): Promise<void> {
  const { contentType, text } = "contentType" in content ? content : { contentType: HEADERS["content-type"], text: content };
  const gone = new AbortController();
  response.on("close", () => gone.abort(new Error("the client disconnected")));
  const either = AbortSignal.any([signal, gone.signal]);
  response.writeHead(200, { ...HEADERS, "content-type": contentType });
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
