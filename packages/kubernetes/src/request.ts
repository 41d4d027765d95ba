import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { ClusterError } from "@isthmus/plane/ports";
import type { ApiRequest, Connection } from "./connection.ts";
import { errorOf } from "./statusError.ts";

/** A whole answer; `json` is undefined when the body isn't JSON or there is none. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: unknown;
}

/** One exchange, whatever its status. */
export async function exchange(connection: Connection, request: ApiRequest, signal?: AbortSignal): Promise<Answer> {
  return wholeAnswer(await connection.open(request, signal), connection.server, signal);
}

/** One exchange that must succeed: gives the body, rejects with ClusterError. */
export async function call(connection: Connection, request: ApiRequest, signal?: AbortSignal): Promise<unknown> {
  const answer = await exchange(connection, request, signal);
  if (answer.status >= 300) throw errorOf(answer, request);
  if (answer.json === undefined) throw notJson(connection.server, request.path);
  return answer.json;
}

/** Reads what is left of an answer. */
export async function wholeAnswer(response: IncomingMessage, server: string, signal?: AbortSignal): Promise<Answer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (error) {
    signal?.throwIfAborted();
    throw new ClusterError("Unavailable", `the API server ${server} broke off its answer`, {}, error);
  }
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
  return new ClusterError("Unavailable", `${server}${path} answers something that is not JSON: is it a Kubernetes API server?`);
}
