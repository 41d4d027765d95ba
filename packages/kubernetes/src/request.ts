import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { ClusterError } from "@isthmus/ports";
import type { ApiRequest, Connection } from "./connection.ts";
import { errorOf } from "./statusError.ts";

/** A whole answer; `json` is undefined when the body isn't JSON or there is none. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: unknown;
}

/** One object, or what an API server serves: many times what Kubernetes lets an object be (1.5 MiB in etcd). */
export const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
/** Of a refusal no more is read: it is a sentence. */
const MAX_REFUSAL_BYTES = 256 * 1024;
/** How long an answer may take, however busily it comes. */
const ANSWER_MS = 5 * 60_000;

/** Thrown for an answer of which more came than anybody asked for; asked for less, the server may be of use. */
export class ResponseTooLarge extends ClusterError {
  constructor(server: string, maxBytes: number) {
    super("Unavailable", `the response of the API server ${server} is larger than ${maxBytes / (1024 * 1024)} MiB`);
  }
}

/** One exchange, whatever its status. */
export async function exchange(
  connection: Connection,
  request: ApiRequest,
  signal?: AbortSignal,
  maxBytes = MAX_RESPONSE_BYTES,
): Promise<ApiResponse> {
  return readResponse(await connection.open(request, signal), { server: connection.server, maxBytes }, signal);
}

/** One exchange that must succeed: gives the body, rejects with ClusterError. */
export async function call(
  connection: Connection,
  request: ApiRequest,
  signal?: AbortSignal,
  maxBytes = MAX_RESPONSE_BYTES,
): Promise<unknown> {
  const answer = await exchange(connection, request, signal, maxBytes);
  if (answer.status >= 300) throw errorOf(answer, request);
  if (answer.json === undefined) throw notJson(connection.server, request.path);
  return answer.json;
}

/** Reads what is left of an answer. */
export async function readResponse(
  response: IncomingMessage,
  { server, maxBytes = MAX_RESPONSE_BYTES }: { readonly server: string; readonly maxBytes?: number },
  signal?: AbortSignal,
): Promise<ApiResponse> {
  const isRefusal = (response.statusCode ?? 0) >= 300;
  const most = isRefusal ? MAX_REFUSAL_BYTES : maxBytes;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const limit = setTimeout(() => response.destroy(new Error(`the response took longer than ${ANSWER_MS / 1000} s`)), ANSWER_MS);
  try {
    for await (const chunk of response) {
      bytes += (chunk as Buffer).length;
      // To leave the loop ends the connection.
      if (bytes > most) break;
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw new ClusterError("Unavailable", `the API server ${server} did not complete its response`, {}, error);
  } finally {
    clearTimeout(limit);
  }
  if (bytes > most && !isRefusal) throw new ResponseTooLarge(server, most);
  const text = Buffer.concat(chunks).toString("utf8");
  return { status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function notJson(server: string, path: string): ClusterError {
  return new ClusterError("Unavailable", `the response of ${server}${path} is not JSON: check that it is a Kubernetes API server`);
}
