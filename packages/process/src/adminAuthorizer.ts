import type { IncomingMessage } from "node:http";
import { abortedAfter, messageOf } from "@isthmus/core";
import { sharedPlaces } from "./sharedPlaces.ts";
import { wrongTokens } from "./wrongTokens.ts";

/**
 * Whether the bearer of a token may read a path, as the Kubernetes API says; a token that was made for another audience counts with
 * `isEncrypted` alone. Rejects when it cannot be asked.
 */
export type Authorize = (
  question: { readonly token: string; readonly path: string; readonly audience: string; readonly isEncrypted: boolean },
  signal: AbortSignal,
) => Promise<{ readonly allowed: true } | { readonly allowed: false; readonly isKnown: boolean; readonly reason: string }>;

type Verdict = { readonly admitted: true } | { readonly refused: 401 | 403 | 429 | 503; readonly reason: string };

/**
 * Who may read what the admin port tells of the clusters: a user of this very machine (`kubectl port-forward` comes from
 * there too, and needs rights of its own), and else the bearer of a token that the Kubernetes API confirms. Source: decisions §8.
 */
export function adminAuthorizer(
  authorize: Authorize | undefined,
  isEncrypted: boolean,
): (request: IncomingMessage, path: string, signal: AbortSignal) => Promise<Verdict> {
  const asking = sharedPlaces({ inAll: MAX_ASKING, ofOne: MAX_ASKING_OF_ADDRESS });
  const wrong = wrongTokens({ now: () => performance.now() });
  return async (request, path, signal) => {
    if (isFromHere(request)) return { admitted: true };
    const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
    if (token === undefined) return { refused: 401, reason: NEEDS_TOKEN };
    if (authorize === undefined) return { refused: 403, reason: "only available from the machine itself" };
    // Wrong tokens must not make the API server busy, and those of one address not keep others out.
    const leave = asking.take(request.socket.remoteAddress);
    if (leave === undefined) return { refused: 429, reason: "too many concurrent requests: retry later" };
    const right = wrong.take(request.socket.remoteAddress);
    if (right === undefined) {
      leave();
      return { refused: 429, reason: "too many wrong tokens: retry in some seconds" };
    }
    try {
      const question = { token, path, audience: AUDIENCE, isEncrypted };
      const verdict = await authorize(question, abortedAfter(ASK_MS, signal));
      // Who the bearer is was a right answer, whatever the bearer may do.
      if (verdict.allowed || verdict.isKnown) right();
      if (verdict.allowed) return { admitted: true };
      return { refused: verdict.isKnown ? 403 : 401, reason: verdict.reason };
    } catch (error) {
      right();
      return { refused: 503, reason: `cannot check access with the Kubernetes API: ${messageOf(error)}` };
    } finally {
      leave();
    }
  };
}

/** Whom a token must be made for, where others could read it on the way. */
const AUDIENCE = "gloo-mesh-admin";
const NEEDS_TOKEN = `a bearer token of the Kubernetes API for this port is required: kubectl create token NAME --audience=${AUDIENCE}`;
const MAX_ASKING = 4;
const MAX_ASKING_OF_ADDRESS = 2;
const ASK_MS = 5_000;

/**
 * Whether a request comes from this machine and was meant for it. One that a proxy passed on comes from elsewhere (a sidecar
 * calls from 127.0.0.6, others say so in a header); one for another host name was led here by a web page.
 */
function isFromHere({ socket, headers }: IncomingMessage): boolean {
  const isLocal = ["127.0.0.1", "::1", "::ffff:127.0.0.1"].includes(socket.remoteAddress ?? "");
  const isPassedOn = PROXY_HEADERS.some((header) => headers[header] !== undefined);
  const host = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(headers.host ?? "")?.[1] ?? "";
  return isLocal && !isPassedOn && ["localhost", "127.0.0.1", "[::1]"].includes(host.toLowerCase());
}

const PROXY_HEADERS = ["forwarded", "x-forwarded-for", "x-forwarded-host", "via", "x-envoy-external-address", "x-real-ip"];
