import type { IncomingMessage } from "node:http";

/** The fields of a form (application/x-www-form-urlencoded); undefined for other content, and for one that is too long. The server bounds the time that it may take to come. */
export async function formBody(request: IncomingMessage, mostBytes = MOST_BYTES): Promise<URLSearchParams | undefined> {
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") return undefined;
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > mostBytes) return undefined;
    parts.push(part);
  }
  return new URLSearchParams(Buffer.concat(parts).toString());
}

// A token has one or two thousand characters; one of an identity provider with many groups, more.
const MOST_BYTES = 32 * 1024;
