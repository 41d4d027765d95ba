import type { ServerResponse } from "node:http";
import { sendText } from "@isthmus/process/http";

/** Answers that the browser shall ask again in a few seconds. */
export function sendBusy(response: ServerResponse, text: string): void {
  sendText(response, 503, text, { "retry-after": "10" });
}

/** Answers with JSON that nobody keeps. */
export function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" }).end(JSON.stringify(body));
}

/** Why a user is not answered. */
export const TOO_MANY_USERS = "too many users follow this console: try again in a minute";
/** Why a user is not answered. */
export const NOT_ASKED = "the Kubernetes API cannot be asked what you may list";
