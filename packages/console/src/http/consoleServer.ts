import type { IncomingMessage, ServerResponse } from "node:http";
import type { SecureContextOptions } from "node:tls";
import { type Log, messageOf, UsageError } from "@isthmus/core";
import { type SharedPlaces, sendText, sharedPlaces, startHttpServer } from "@isthmus/process/http";
import type { ObjectName, PastMoment } from "../events/history.ts";
import type { ConsoleHub } from "../events/hub.ts";
import { shownObject } from "../events/shownObject.ts";
import type { Login } from "../login/login.ts";
import type { Session } from "../login/sessions.ts";
import type { ViewerHub, ViewerHubs } from "../viewers/viewerHubs.ts";
import {
  CHANGES_PATH,
  GENERATIONS_PATH,
  HISTORY_PATH,
  MOMENT_PATH,
  type MomentTimes,
  type ObjectGenerations,
  SESSIONS_PATH,
  STREAM_PATH,
} from "../wire.ts";
import { NOT_ASKED, sendBusy, sendJson, TOO_MANY_USERS } from "./answers.ts";
import { SECURITY_HEADERS } from "./headers.ts";
import { isLoopback, isLoopbackHost } from "./loopback.ts";
import { writeMoment } from "./moment.ts";
import { sendChanges, sendSessions } from "./records.ts";
import { readStaticFiles, type StaticFile, type StaticFiles } from "./staticFiles.ts";
import { acceptsGzip, writeStream } from "./stream.ts";

export interface ConsoleServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly hub: Pick<ConsoleHub, "about" | "follow" | "history" | "record" | "clock">;
  /** Who may read, and what. Default: everybody who reaches it, everything; then only this machine reaches it. */
  readonly access?: ConsoleAccess;
  /** The port speaks TLS with this certificate, and nothing else. Default: plain HTTP. */
  readonly tls?: SecureContextOptions;
  /** Directory of the pages' files. Default: there are none, and only the stream is served. */
  readonly files?: string;
  readonly log: Log;
  /** Streams at a time. Default: 100; with a login, 20 of one user. */
  readonly maxStreams?: number;
  /** How long a request may take to come, in milliseconds. Default: 10 s. */
  readonly requestMs?: number;
  /** How long a browser may take for one part of a stream, in milliseconds. Default: 30 s. */
  readonly stalledMs?: number;
  /** How long a browser may take for what was known at a time, in milliseconds. Default: a minute. */
  readonly momentMs?: number;
}

/** The users of a console. */
export interface ConsoleAccess {
  readonly login: Login;
  readonly viewers: Pick<ViewerHubs, "of">;
  /** Where browsers see the console. */
  readonly publicUrl: URL;
}

/** A console that is served. */
export interface ConsoleServer {
  readonly port: number;
  /** Browsers that follow it now. */
  readonly streams: number;
  /** For connections that come later. */
  setSecureContext(context: SecureContextOptions): void;
  close(): Promise<void>;
}

/** Serves the console. Rejects with UsageError for an address that is taken, or that others than this machine reach. */
export async function startConsoleServer(options: ConsoleServerOptions): Promise<ConsoleServer> {
  const { host, port, access, tls, log, requestMs } = options;
  if (access === undefined && !isLoopback(host))
    throw new UsageError(`the console is served on loopback only: ${host} is reached from elsewhere, and there is no login`);
  const stop = new AbortController();
  const pages = options.files === undefined ? undefined : await readStaticFiles(options.files);
  const streams = sharedPlaces({ inAll: options.maxStreams ?? MAX_STREAMS, ofOne: MAX_STREAMS_OF_USER });
  const moments = sharedPlaces({ inAll: MAX_MOMENTS, ofOne: MAX_MOMENTS_OF_USER });
  const context: Context = { ...options, pages, streams, moments, signal: stop.signal };
  const server = await startHttpServer({
    host,
    port,
    answer: (request, response) => answer(request, response, context),
    failed: (error) => {
      log.warn({}, `the console cannot answer: ${messageOf(error)}`);
      return "internal error";
    },
    connections: { perAddress: MAX_CONNECTIONS / 2, inAll: MAX_CONNECTIONS },
    requestMs,
    tls,
  });
  return {
    port: server.port,
    setSecureContext: server.setSecureContext,
    get streams() {
      return context.streams.taken;
    },
    close: () => {
      stop.abort(new Error("the console is shutting down"));
      return server.close();
    },
  };
}

const STALLED_MS = 30_000;
const MOMENT_MS = 60_000;
const MAX_STREAMS = 100;
const MAX_STREAMS_OF_USER = 20;
// Each is made from the beginning.
const MAX_MOMENTS = 4;
// One that is given up, and the next.
const MAX_MOMENTS_OF_USER = 2;
// Each browser may have some for files beside its stream.
const MAX_CONNECTIONS = 1_024;

interface Context extends ConsoleServerOptions {
  readonly pages: StaticFiles | undefined;
  readonly streams: SharedPlaces;
  readonly moments: SharedPlaces;
  readonly signal: AbortSignal;
}

async function answer(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const { access, pages } = context;
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
  const { host } = request.headers;
  if (!isLoopbackHost(host) && (access === undefined || host?.toLowerCase() !== access.publicUrl.host))
    return sendText(response, 421, access === undefined ? LOOPBACK_NAMES : `this console is served as ${access.publicUrl.host}`);
  const url = new URL(request.url ?? "/", "http://localhost");
  if (access !== undefined && (await access.login.answer(request, response, url))) return;
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    return sendText(response, 405, "only GET and HEAD are supported");
  }
  const session = access?.login.sessionOf(request);
  if (access !== undefined && session === undefined) return access.login.refuse(request, response, url);
  const { pathname } = url;
  if (API_PATHS.has(pathname)) {
    // A page elsewhere could not read it, but it would take the place of somebody else's.
    if (!["same-origin", "none", undefined].includes(request.headers["sec-fetch-site"] as string | undefined))
      return sendText(response, 403, "this is for pages of this console");
    if (pathname === STREAM_PATH) return stream(request, response, context, session);
    if (pathname === MOMENT_PATH) return moment(request, response, context, { session, at: url.searchParams.get("at") ?? "" });
    if (pathname === GENERATIONS_PATH) return generations(response, context, { session, name: objectNameIn(url.searchParams) });
    if (pathname === CHANGES_PATH || pathname === SESSIONS_PATH) return records(response, context, { session, pathname });
    return sendTimes(response, context);
  }
  if (pages === undefined && pathname === "/") return sendText(response, 404, NO_PAGES);
  sendFile(request, response, pages?.find(pathname));
}

const API_PATHS: ReadonlySet<string> = new Set([STREAM_PATH, HISTORY_PATH, MOMENT_PATH, GENERATIONS_PATH, CHANGES_PATH, SESSIONS_PATH]);
const LOOPBACK_NAMES = "this console is served under the names of this machine alone";
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

async function stream(request: IncomingMessage, response: ServerResponse, context: Context, session: Session | undefined): Promise<void> {
  const { access, streams, stalledMs = STALLED_MS, signal } = context;
  const hub = access === undefined ? context.hub : session && access.viewers.of(session.user);
  if (hub === undefined) return sendBusy(response, TOO_MANY_USERS);
  const release = streams.take(session?.user.username);
  if (release === undefined) return sendBusy(response, "too many browsers follow this console already: close some of them");
  // A page that is open is in use.
  const leave = session?.hold();
  try {
    // It ends with the session.
    await writeStream(request, response, { hub, stalledMs }, session === undefined ? signal : AbortSignal.any([signal, session.signal]));
  } finally {
    leave?.();
    release();
  }
}

function sendTimes(response: ServerResponse, { hub }: Context): void {
  sendJson(response, { times: hub.history.times, now: hub.clock().now } satisfies MomentTimes);
}

interface RecordsRequest {
  readonly session: Session | undefined;
  readonly pathname: string;
}

async function records(
  response: ServerResponse,
  { access, hub, moments, signal }: Context,
  { session, pathname }: RecordsRequest,
): Promise<void> {
  const viewer = session && access?.viewers.of(session.user);
  if (access !== undefined && viewer === undefined) return sendBusy(response, TOO_MANY_USERS);
  // Each reads all moments.
  const release = moments.take(session?.user.username);
  if (release === undefined) return sendBusy(response, TOO_MANY_MOMENTS);
  try {
    await (pathname === CHANGES_PATH ? sendChanges : sendSessions)(response, { hub, viewer, signal });
  } finally {
    release();
  }
}

const TOO_MANY_MOMENTS = "too many users look at the past right now: try again in a few seconds";

interface GenerationsRequest {
  readonly session: Session | undefined;
  readonly name: ObjectName;
}

/** The same answer for what is not kept and for what the user may not see. */
async function generations(
  response: ServerResponse,
  { access, hub, signal }: Context,
  { session, name }: GenerationsRequest,
): Promise<void> {
  const kept = hub.history.generationsOf(name);
  // Nothing of a Secret is shown, not even how often it changed.
  if (kept === undefined || shownObject(kept.last) === undefined) return sendGenerations(response, []);
  if (access !== undefined) {
    const viewer = session && access.viewers.of(session.user);
    if (viewer === undefined) return sendBusy(response, TOO_MANY_USERS);
    const sees = await viewer.sees(kept.last, signal).catch(() => undefined);
    if (sees === undefined) return sendBusy(response, NOT_ASKED);
    if (!sees) return sendGenerations(response, []);
  }
  sendGenerations(response, kept.generations);
}

function sendGenerations(response: ServerResponse, generations: ObjectGenerations["generations"]): void {
  sendJson(response, { generations } satisfies ObjectGenerations);
}

function objectNameIn(query: URLSearchParams): ObjectName {
  const of = (member: string) => query.get(member) ?? "";
  return { group: of("group"), kind: of("kind"), name: of("name"), namespace: of("namespace"), clusterName: of("cluster") };
}

interface MomentRequest {
  readonly session: Session | undefined;
  readonly at: string;
}

async function moment(request: IncomingMessage, response: ServerResponse, context: Context, { session, at }: MomentRequest): Promise<void> {
  const { access, hub, moments, momentMs = MOMENT_MS, signal } = context;
  const past = hub.history.at(at);
  if (past === undefined) return sendText(response, 404, "nothing of that time is kept");
  const viewer = session && access?.viewers.of(session.user);
  const release = access !== undefined && viewer === undefined ? undefined : moments.take(session?.user.username);
  if (release === undefined) return sendBusy(response, TOO_MANY_MOMENTS);
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(new Error("the browser takes what was known too slowly")), momentMs);
  response.on("close", () => stop.abort(new Error("the browser disconnected")));
  const until = AbortSignal.any([signal, stop.signal, ...(session === undefined ? [] : [session.signal])]);
  try {
    const visible = viewer === undefined ? past : await visibleIn(viewer, past, until);
    if (visible === undefined) return sendBusy(response, NOT_ASKED);
    await writeMoment(request, response, { about: hub.about, past: visible }, until);
  } finally {
    clearTimeout(timer);
    release();
  }
}

/** Undefined where it is not known what the user may see. */
async function visibleIn(viewer: ViewerHub, past: PastMoment, signal: AbortSignal): Promise<PastMoment | undefined> {
  try {
    return await viewer.visible(past, signal);
  } catch {
    return undefined;
  }
}
