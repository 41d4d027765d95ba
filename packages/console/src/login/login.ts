import type { IncomingMessage, ServerResponse } from "node:http";
import { abortedAfter, type Clock, type Log, messageOf, semaphore, uptimeOf } from "@isthmus/core";
import type { AccessReviews } from "@isthmus/ports";
import { sendText, sharedPlaces, wrongTokens } from "@isthmus/process/http";
import { formBody } from "./formBody.ts";
import { loginPage } from "./loginPage.ts";
import { type Session, startSessions } from "./sessions.ts";

/** Who may read the console. */
export interface Login {
  /** Answers what is about logging in and out; false: the request is about something else. */
  answer(request: IncomingMessage, response: ServerResponse, url: URL): Promise<boolean>;
  /** Whose request it is; undefined: nobody's. */
  sessionOf(request: IncomingMessage): Session | undefined;
  /** Answers a request of nobody. */
  refuse(request: IncomingMessage, response: ServerResponse, url: URL): void;
  /** Users' sessions at the moment. */
  readonly sessions: number;
  readonly ended: Promise<void>;
}

export interface LoginOptions {
  readonly reviews: AccessReviews;
  /** Where browsers see the console. With `https:`, cookies are sent encrypted only. */
  readonly publicUrl: URL;
  /** Whether tokens come encrypted to this very process: then those for the API server itself count, too. */
  readonly isEncrypted: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** How often tokens are looked at again, in milliseconds. Default: a minute. */
  readonly reviewMs?: number;
}

/** Whom a token must be made for. */
const CONSOLE_AUDIENCE = "gloo-mesh-console";

/** Logs users in by tokens that the Kubernetes API confirms. */
export function startLogin({ reviews, publicUrl, isEncrypted, clock, log, reviewMs }: LoginOptions, signal: AbortSignal): Login {
  const sessions = startSessions({ reviews, clock, log, ...(reviewMs === undefined ? {} : { reviewMs }) }, signal);
  const asking = semaphore(MOST_ASKING);
  const places = sharedPlaces({ inAll: MOST_ASKING + MOST_WAITING, ofOne: (MOST_ASKING + MOST_WAITING) / 2 });
  const wrong = wrongTokens({ now: () => uptimeOf(clock) });
  // A cookie of that name is only taken from this host, over TLS, for all paths: no other host of the domain can set it (RFC 6265bis, 4.1.3).
  const isSecure = publicUrl.protocol === "https:";
  const cookie = isSecure ? "__Host-gloo-mesh-console" : "gloo-mesh-console";
  // Not Strict: a link to an object, in a message, would ask for a new login. Nothing is changed by a GET.
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;

  function secretOf(request: IncomingMessage): string | undefined {
    for (const pair of (request.headers.cookie ?? "").split(";")) {
      const at = pair.indexOf("=");
      if (at >= 0 && pair.slice(0, at).trim() === cookie) return pair.slice(at + 1).trim();
    }
    return undefined;
  }

  function sendPage(response: ServerResponse, status: number, next: string, problem?: string): void {
    const html = loginPage({ next, audience: CONSOLE_AUDIENCE, ...(problem === undefined ? {} : { problem }) });
    // Else browsers would not say from where its form comes.
    const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store", "referrer-policy": "same-origin" };
    response.writeHead(status, headers).end(html);
  }

  function redirect(response: ServerResponse, location: string, more: Readonly<Record<string, string>> = {}): void {
    response.writeHead(303, { location, "cache-control": "no-store", ...more }).end();
  }

  async function logIn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = await formBody(request);
    if (form === undefined) return sendText(response, 400, "a form with a token is expected");
    const next = ownPath(form.get("next"));
    const token = form.get("token")?.trim() ?? "";
    // A token is one line of visible characters: what else comes is not worth a question.
    if (!/^[\x21-\x7e]+$/.test(token)) return sendPage(response, 400, next, "This is not a token: a token is one line without spaces.");
    // Wrong tokens must not make the API server busy, and those of one address not take the places of others.
    const leave = places.take(request.socket.remoteAddress);
    if (leave === undefined) return sendPage(response, 429, next, "Too many users log in right now: try again in a few seconds.");
    const right = wrong.take(request.socket.remoteAddress);
    if (right === undefined) {
      leave();
      return sendPage(response, 429, next, "Too many wrong tokens were tried: try again in a few seconds.");
    }
    const question = { token, audience: CONSOLE_AUDIENCE, isEncrypted };
    let bearer: Awaited<ReturnType<AccessReviews["whoBears"]>>;
    try {
      bearer = await asking.run(() => reviews.whoBears(question, abortedAfter(ASK_MS, signal)));
    } catch (error) {
      right();
      log.warn({}, `cannot ask the Kubernetes API about a token: ${messageOf(error)}`);
      return sendPage(response, 503, next, "The Kubernetes API cannot be asked about this token: try again later.");
    } finally {
      leave();
    }
    if ("refused" in bearer) {
      log.info({ address: request.socket.remoteAddress ?? "" }, "a login to the console was refused");
      return sendPage(response, 401, next, `You are not logged in: ${bearer.refused}.`);
    }
    right();
    const before = secretOf(request);
    if (before !== undefined) sessions.end(before);
    const secret = sessions.open(bearer.user, question);
    if (secret === undefined) return sendPage(response, 503, next, "Too many users are logged in: try again later.");
    log.info({ user: bearer.user.username }, "logged in to the console");
    redirect(response, next, { "set-cookie": `${cookie}=${secret}; ${attributes}` });
  }

  function logOut(request: IncomingMessage, response: ServerResponse): void {
    const secret = secretOf(request);
    if (secret !== undefined) sessions.end(secret);
    redirect(response, "/login", { "set-cookie": `${cookie}=; ${attributes}; Max-Age=0` });
  }

  return {
    async answer(request, response, url) {
      const { pathname } = url;
      if (pathname !== "/login" && pathname !== "/logout") return false;
      if (request.method === "POST") {
        if (!isOwnOrigin(request, publicUrl)) sendText(response, 403, "a form of this console is expected");
        else if (pathname === "/login") await logIn(request, response);
        else logOut(request, response);
        return true;
      }
      if (request.method !== "GET" && request.method !== "HEAD") return false;
      if (pathname === "/logout") redirect(response, "/login");
      else sendPage(response, 200, ownPath(url.searchParams.get("next")));
      return true;
    },
    sessionOf(request) {
      const secret = secretOf(request);
      return secret === undefined ? undefined : sessions.find(secret);
    },
    refuse(request, response, url) {
      const isPage = request.method === "GET" && (request.headers.accept ?? "").includes("text/html");
      if (!isPage) return sendText(response, 401, "not logged in");
      redirect(response, `/login?next=${encodeURIComponent(`${url.pathname}${url.search}`)}`);
    },
    get sessions() {
      return sessions.size;
    },
    ended: sessions.ended,
  };
}

const MOST_ASKING = 8;
// Who waits longer than a question may take would be refused anyway.
const MOST_WAITING = 64;
const ASK_MS = 5_000;

/** A path of this console that a form or an address names, and nothing that leads elsewhere. */
function ownPath(next: string | null): string {
  if (next === null || next.length > MOST_PATH || !next.startsWith("/")) return "/";
  try {
    const { origin, pathname, search } = new URL(next, BASE);
    // Of "/..//host" the path is "//host", which browsers take for another host.
    return origin === BASE && !/^\/(\/|(login|logout)\b)/.test(pathname) ? `${pathname}${search}` : "/";
  } catch {
    return "/";
  }
}

const BASE = "http://console.invalid";
const MOST_PATH = 8_192;

/** Whether a form was sent by a page of this console: browsers say so with every POST, and pages elsewhere cannot have them say something else. */
function isOwnOrigin({ headers }: IncomingMessage, publicUrl: URL): boolean {
  const { origin, host } = headers;
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  if (origin === undefined || host === undefined) return false;
  return origin === publicUrl.origin || origin === `http://${host}` || origin === `https://${host}`;
}
