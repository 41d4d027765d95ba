import { setMaxListeners } from "node:events";
import http, { type Agent, type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import { type ConnectionOptions as ConnectionSettings, checkServerIdentity, TLSSocket } from "node:tls";
import { type Clock, messageOf, UsageError } from "@isthmus/core";
import { ClusterError } from "@isthmus/ports";
import type { ApiCredentials, Kubeconfig, TlsSettings } from "./kubeconfig.ts";

/** One request to an API server. `path` is absolute and already encoded. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Set for an answer without end: it gets a connection of its own, and may stay silent for so long. */
  readonly streamIdleMs?: number;
}

/** Answers as they come: statuses are not judged here. */
export interface Connection {
  /** The API server's address, for messages. */
  readonly server: string;
  /** The answer's head; its body is still to be read. Rejects with ClusterError `Unavailable` when none comes. */
  open(request: ApiRequest, signal?: AbortSignal): Promise<IncomingMessage>;
  /** What a connection of another protocol needs; never `refused`, of which the API server said that it doesn't know its user. */
  access(refused?: ApiAccess): Promise<ApiAccess>;
}

/** Whom to be, and how to reach the API server for an exchange without end. */
export interface ApiAccess {
  readonly credentials: ApiCredentials;
  readonly streamAgent: Agent;
}

/** Why a connection was given up: the API server said nothing for too long. */
export class Silence extends Error {
  constructor(afterMs: number) {
    super(`no answer within ${afterMs / 1000} s`);
  }
}

export interface ConnectionOptions {
  readonly kubeconfig: Kubeconfig;
  readonly clock: Clock;
  /** How long the API server may stay silent within one exchange. */
  readonly silenceMs: number;
}

// As often as Kubernetes' own client reads a mounted token again.
const CREDENTIALS_LIFE_MS = 60_000;
// Finds out within a minute that the machine at the other end is gone, and keeps firewalls from forgetting a silent stream:
// a watch of a kind that nobody changes has no bookmarks either.
const PROBE_MS = 30_000;

interface Session extends ApiAccess {
  readonly agent: Agent;
  readonly until: number;
}

/** Connections to one API server, kept open between requests. Credentials are renewed each minute and when they are refused. */
export function connectionTo({ kubeconfig, clock, silenceMs }: ConnectionOptions): Connection {
  const { server } = kubeconfig;
  const { protocol, hostname, port, pathname } = new URL(server);
  const { request: send } = protocol === "https:" ? https : http;
  const prefix = pathname.replace(/\/+$/, "");
  let session: Session | undefined;
  let renewal: Promise<Session> | undefined;

  async function renewed(refused: boolean): Promise<Session> {
    try {
      const credentials = await kubeconfig.credentials(refused);
      const agents = session !== undefined && isSameTls(session.credentials, credentials) ? session : agentsFor(protocol, credentials);
      const { agent, streamAgent } = agents;
      session = { credentials, agent, streamAgent, until: clock.now() + CREDENTIALS_LIFE_MS };
      return session;
    } catch (error) {
      if (error instanceof UsageError) throw new ClusterError("Forbidden", error.message, {}, error);
      throw error;
    } finally {
      renewal = undefined;
    }
  }

  /** A request. What Node refuses to send at all, as a header with a line break, is no fault of ours. */
  function begun(options: https.RequestOptions): ClientRequest {
    try {
      return send(options);
    } catch (error) {
      throw new ClusterError("Unavailable", `cannot send the request to the API server ${server}: ${messageOf(error)}`, {}, error);
    }
  }

  /** The session to use; never `refused`, of which the API server said that it doesn't know its user. */
  async function current(refused?: ApiAccess): Promise<Session> {
    if (session !== undefined && session !== refused && clock.now() < session.until) return session;
    // Anyone who comes meanwhile shares the renewal: an exec plugin may ask its user something.
    renewal ??= renewed(session !== undefined && session === refused);
    return renewal;
  }

  async function attempt(
    request: ApiRequest,
    session: Session,
    { isRetry, signal }: { readonly isRetry: boolean; readonly signal: AbortSignal | undefined },
  ): Promise<IncomingMessage> {
    signal?.throwIfAborted();
    // Every request that is under way listens to its signal, and many have one in common: that is no leak.
    if (signal !== undefined) setMaxListeners(0, signal);
    const { streamIdleMs } = request;
    const query = request.query === undefined ? "" : `?${new URLSearchParams(request.query)}`;
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const response = await new Promise<IncomingMessage | "stale">((resolve, reject) => {
      const outgoing = begun({
        host: hostname.replace(/^\[|\]$/g, ""),
        port: port || (protocol === "https:" ? 443 : 80),
        method: request.method,
        path: `${prefix}${request.path}${query}`,
        agent: streamIdleMs === undefined ? session.agent : session.streamAgent,
        timeout: silenceMs,
        headers: {
          accept: "application/json",
          // The API server takes the part before the slash as field manager of what is created or replaced.
          "user-agent": "gloo-mesh/isthmus",
          ...(body === undefined
            ? {}
            : { "content-type": request.contentType ?? "application/json", "content-length": Buffer.byteLength(body) }),
          ...session.credentials.headers,
          ...request.headers,
        },
        ...(signal === undefined ? {} : { signal }),
      });
      let head: IncomingMessage | undefined;
      outgoing.on("response", (response) => {
        head = response;
        if (streamIdleMs !== undefined) response.socket.setTimeout(streamIdleMs).setKeepAlive(true, PROBE_MS);
        resolve(response);
      });
      limitConnecting(outgoing, silenceMs);
      outgoing.on("timeout", () => (head ?? outgoing).destroy(new Silence((head && streamIdleMs) ?? silenceMs)));
      outgoing.on("error", (error) => {
        if (signal?.aborted) return reject(signal.reason);
        // A connection that was kept open may be closed by the other side just as it is used again. What is not repeatable
        // is left to the caller. One that is only silent is open: asked again, the API server would have the time of silence twice.
        if (outgoing.reusedSocket && !(error instanceof Silence) && !isRetry && request.method !== "POST") return resolve("stale");
        reject(new ClusterError("Unavailable", `cannot reach the API server ${server}: ${causeOf(error)}`, {}, error));
      });
      outgoing.end(body);
    });
    return response === "stale" ? attempt(request, session, { isRetry: true, signal }) : response;
  }

  return {
    server,
    access: current,
    async open(request, signal) {
      const first = await current();
      const response = await attempt(request, first, { isRetry: false, signal });
      if (response.statusCode !== 401) return response;
      response.resume();
      return attempt(request, await current(first), { isRetry: true, signal });
    },
  };
}

/** Node begins to count a second time while a TLS handshake is unanswered: a silent server would have twice the time. */
function limitConnecting(request: ClientRequest, ms: number): void {
  request.once("socket", (socket) => {
    // One that an agent has kept open is connected, as is one that comes out of a proxy.
    if (!socket.connecting) return;
    const limit = setTimeout(() => request.destroy(new Silence(ms)), ms);
    const connected = (): void => clearTimeout(limit);
    socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", connected).once("close", connected);
  });
}

function agentsFor(protocol: string, { tls, proxy }: ApiCredentials): Pick<Session, "agent" | "streamAgent"> {
  if (proxy !== undefined) return { agent: proxy, streamAgent: proxy };
  const { Agent } = protocol === "https:" ? https : http;
  const settings = expecting(tls);
  return { agent: new Agent({ ...settings, keepAlive: true }), streamAgent: new Agent({ ...settings, keepAlive: false }) };
}

/** A kubeconfig's `tls-server-name` may be an address: TLS cannot ask for one, the certificate must name it all the same. */
function expecting(tls: TlsSettings): TlsSettings & Pick<ConnectionSettings, "checkServerIdentity"> {
  const { servername } = tls;
  if (servername === undefined || isIP(servername) === 0) return tls;
  return { ...tls, servername: "", checkServerIdentity: (_, certificate) => checkServerIdentity(servername, certificate) };
}

function isSameTls(a: ApiCredentials, b: ApiCredentials): boolean {
  return fingerprint(a) === fingerprint(b);
}

function fingerprint({ tls, proxy }: ApiCredentials): string {
  return JSON.stringify([tls.ca, tls.cert, tls.key, tls.rejectUnauthorized, tls.servername].map(String).concat(proxy ? "proxy" : ""));
}

/** The reason in words that a person who knows networks reads. */
function causeOf(error: Error & { readonly code?: string; readonly errors?: readonly Error[] }): string {
  // A host name with several addresses fails once for each of them.
  const message = error.errors?.map(messageOf).join("; ") || error.message || error.code || "connection lost";
  switch (error.code) {
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
      return `${message}: its certificate is not from the kubeconfig's certificate authority`;
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `${message}: its certificate is for other names than that of the kubeconfig's server: correct server, or set tls-server-name of the cluster to a name of the certificate`;
    case "CERT_HAS_EXPIRED":
      return `${message}: the API server's own certificate has ended: renew it there, and check the clock of this machine`;
    default:
      return message;
  }
}
