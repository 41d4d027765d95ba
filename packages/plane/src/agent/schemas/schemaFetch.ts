import type { Clock } from "@isthmus/core";
import { type HttpAnswer, type HttpClient, HttpError } from "@isthmus/ports";
import { MOST_DOCUMENT_BYTES, openApiDocument, SchemaProblem } from "./openApiDocument.ts";

/** The annotation with which Services and ApiSchemaDiscoveries name a ConfigMap of their namespace with the CA of an https URL: NAME, or NAME/KEY. */
export const SCHEMA_CA = "isthmus.mesh/schema-ca";

/** Where a document is read. */
export interface SchemaTarget {
  /** As users write it: its host is a name of the Service. */
  readonly url: string;
  /** The address and port that are called, whatever a name server says: `10.96.0.10:8080`. */
  readonly address: string;
  /** PEM: the certificate of an https URL must be below one of these. Default: those of the system. */
  readonly roots?: string;
}

/** How often it is tried. */
export interface SchemaAttempts {
  readonly attempts: number;
  readonly delayMs: number;
  /** Each pause is twice as long as the one before. */
  readonly backsOff: boolean;
}

/**
 * Reads one document, as JSON. Redirects are followed three times, to the same host and port alone; nothing but a GET without credentials is
 * sent. Throws SchemaProblem, or the reason of `signal`.
 */
export async function fetchSchema(http: HttpClient, target: SchemaTarget, signal: AbortSignal): Promise<string> {
  let url = new URL(target.url);
  for (let redirects = 0; ; redirects++) {
    const answer = await get(http, { ...target, url }, signal);
    if (answer.status === 200) return openApiDocument(answer.body);
    if (answer.status < 300 || answer.status >= 400) throw problemOf(answer.status);
    if (redirects === MOST_REDIRECTS)
      throw new SchemaProblem(
        "RedirectRefused",
        `the server redirects more than ${MOST_REDIRECTS} times: name the URL of the document itself`,
      );
    const { location } = answer;
    const next = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if (next === undefined || next.origin !== url.origin || next.username + next.password !== "")
      throw new SchemaProblem(
        "RedirectRefused",
        "the server redirects to another host, port or protocol, which is not followed: serve the document by the Service itself",
      );
    url = next;
  }
}

/** The same with further attempts where one may help. `attempt` gives each a turn. */
export async function fetchSchemaWithRetries(
  attempt: () => Promise<string>,
  { attempts, delayMs, backsOff }: SchemaAttempts,
  clock: Clock,
  signal: AbortSignal,
): Promise<string> {
  let pauseMs = delayMs;
  for (let left = attempts - 1; ; left--) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof SchemaProblem) || !error.isTransient || left <= 0) throw error;
    }
    await clock.sleep(Math.min(pauseMs, MOST_PAUSE_MS), signal);
    if (backsOff) pauseMs *= 2;
  }
}

async function get(
  http: HttpClient,
  { url, address, roots }: Omit<SchemaTarget, "url"> & { readonly url: URL },
  signal: AbortSignal,
): Promise<HttpAnswer> {
  try {
    return await http(
      {
        method: "GET",
        url: `${url.protocol}//${address}${url.pathname}${url.search}`,
        headers: { host: url.host, accept: "application/json, application/yaml;q=0.9, */*;q=0.1" },
        ...(url.protocol === "https:" ? { serverName: url.hostname } : {}),
        ...(roots === undefined ? {} : { roots }),
        mostBytes: MOST_DOCUMENT_BYTES,
        timeoutMs: TIMEOUT_MS,
      },
      signal,
    );
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    throw problemOfClient(error, url.hostname);
  }
}

function problemOfClient({ code }: HttpError, host: string): SchemaProblem {
  switch (code) {
    case "Untrusted":
      return new SchemaProblem(
        "Untrusted",
        `the certificate of the Service does not verify: it must be valid for ${host}, the host of the URL, and its CA be one of the system, or in the ConfigMap that annotation ${SCHEMA_CA} names`,
      );
    case "TooLarge":
      return new SchemaProblem(
        "TooLarge",
        `the document is longer than ${MOST_DOCUMENT_BYTES / 1024} KiB: serve a shorter one, or split the API`,
      );
    case "TimedOut":
      return new SchemaProblem(
        "TimedOut",
        `the Service sent no whole answer within ${TIMEOUT_MS / 1000} s: check that it serves the document`,
      );
    default:
      return new SchemaProblem(
        "Unreachable",
        "the Service cannot be called: check its port and NetworkPolicies; where its mesh requires mTLS, let this port take plaintext from the agent",
      );
  }
}

function problemOf(status: number): SchemaProblem {
  if (status >= 500) return new SchemaProblem("ServerError", `the Service answers with status ${status}: check its logs`);
  return new SchemaProblem(
    "UnexpectedStatus",
    `the Service answers with status ${status}: check the path, which must be readable without logging in`,
  );
}

const MOST_REDIRECTS = 3;
// A document of a mebibyte takes less within a cluster.
const TIMEOUT_MS = 5_000;
const MOST_PAUSE_MS = 60_000;
