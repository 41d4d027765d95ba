import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { abortedAfter, keptText } from "@isthmus/core";
import { addressProblem, checkedLookup, type FetchAllowance } from "../moduleAddress.ts";
import { failUnanswered } from "../unanswered.ts";

/** What an HTTP server answered, after redirects. */
export interface ModuleResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface ModuleRequest {
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes of the body; more is an error. */
  readonly most: number;
  readonly allowance: FetchAllowance;
  /** Of all of it, with its redirects. Default: 30 s. */
  readonly timeoutMs?: number;
  /** Whether redirects may lead to other hosts: registries keep blobs elsewhere. */
  readonly takesOtherHosts?: boolean;
}

/** Why a module is not there. Its message is for those who asked for the module, and has no credentials. */
export class ModuleUnavailable extends Error {
  override readonly name = "ModuleUnavailable";
}

/**
 * Asks by GET, and follows at most three redirects, none from https to http, and to other hosts only where that is asked for. Credentials go to the first host alone. The addresses of each host
 * are checked as they are connected to. Throws ModuleUnavailable, and what `signal` was aborted with.
 */
export async function askModule(asked: ModuleRequest, signal: AbortSignal): Promise<ModuleResponse> {
  let { url, headers = {} } = asked;
  const { timeoutMs = LONGEST_MS } = asked;
  const bounded = abortedAfter(timeoutMs, signal);
  for (let redirects = 0; ; redirects++) {
    const answer = await askOnce({ ...asked, url, headers }, bounded).catch((error: unknown) => {
      signal.throwIfAborted();
      if (bounded.aborted) throw new ModuleUnavailable(`${shown(url)}: has not answered within ${timeoutMs / 1_000} s`);
      throw error;
    });
    const { location } = answer.headers;
    if (!REDIRECTS.has(answer.status) || location === undefined) return answer;
    if (redirects === MOST_REDIRECTS) throw new ModuleUnavailable(`${shown(asked.url)}: more than ${MOST_REDIRECTS} redirects`);
    const next = URL.parse(location, url.href);
    if (next === null) throw new ModuleUnavailable(`${shown(url)}: is redirected to what is no URL`);
    if (asked.takesOtherHosts !== true && next.host !== url.host)
      throw new ModuleUnavailable(
        `${shown(asked.url)}: is redirected to another host, which is not asked: name ${keptText(next.host, LONGEST_HOST) || "a host"} in the URI if the module is there`,
      );
    if (url.protocol === "https:" && next.protocol !== "https:")
      throw new ModuleUnavailable(`${shown(url)}: is redirected from https to ${next.protocol}`);
    if (next.origin !== url.origin) headers = {};
    url = next;
  }
}

function askOnce({ url, headers, most, allowance }: ModuleRequest, signal: AbortSignal): Promise<ModuleResponse> {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new ModuleUnavailable(`${shown(url)}: only http and https are supported`);
  // An address is never looked up, so it is checked here.
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  const problem = isIP(host) === 0 ? undefined : addressProblem(host, allowance);
  if (problem !== undefined) throw new ModuleUnavailable(`${shown(url)}: ${problem}`);
  const ask = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      if (error instanceof ModuleUnavailable) reject(error);
      else reject(new ModuleUnavailable(`${shown(url)}: ${error instanceof Error ? error.message : "failed"}`));
    };
    // A connection of its own: its end is the end of whatever a server may do with it.
    const options = { headers, agent: false, lookup: checkedLookup(allowance), signal } as const;
    const sent = ask(url, options, (response) => {
      bodyOf(response, most, shown(url)).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body }),
        (error: unknown) => {
          sent.destroy();
          fail(error);
        },
      );
    });
    failUnanswered(sent, fail);
    sent.end();
  });
}

async function bodyOf(response: IncomingMessage, most: number, from: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const tooLong = () => new ModuleUnavailable(`${from}: the answer has more than ${most} bytes`);
  if (Number(response.headers["content-length"] ?? 0) > most) throw tooLong();
  for await (const part of response as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > most) throw tooLong();
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}

function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])));
}

/** Without user, password and query, which may be secret. */
export function shown({ protocol, host, pathname }: URL): string {
  return keptText(`${protocol}//${host}${pathname}`, LONGEST_SHOWN);
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MOST_REDIRECTS = 3;
const LONGEST_MS = 30_000;
const LONGEST_SHOWN = 512;
const LONGEST_HOST = 253;
