import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { ConsoleHub } from "../events/hub.ts";
import { GZIP_HEADER, plainSegment } from "../events/segment.ts";

export interface BrowserStreamOptions {
  readonly hub: Pick<ConsoleHub, "follow">;
  /** How long one segment may take to be taken, in milliseconds: then the browser is cut off. */
  readonly stalledMs: number;
}

/** Writes events to one browser as fast as it takes them, until it has gone, lags too far behind, or the signal is aborted. */
export async function writeStream(
  request: IncomingMessage,
  response: ServerResponse,
  { hub, stalledMs }: BrowserStreamOptions,
  signal: AbortSignal,
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort(new Error("the browser disconnected")));
  const either = AbortSignal.any([signal, gone.signal]);
  const isGzip = acceptsGzip(request.headers["accept-encoding"]);
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    vary: "accept-encoding",
    // Else nginx keeps events back.
    "x-accel-buffering": "no",
    ...(isGzip ? { "content-encoding": "gzip" } : {}),
  });
  if (request.method === "HEAD") return void response.end();
  const lastEventId = request.headers["last-event-id"];
  try {
    if (isGzip) response.write(GZIP_HEADER);
    for await (const segment of hub.follow(typeof lastEventId === "string" ? lastEventId : undefined, either)) {
      if (response.write(isGzip ? segment : plainSegment(segment))) continue;
      await drained(response, stalledMs, either);
    }
  } catch (error) {
    if (!either.aborted && !(error instanceof Error && error.name === "AbortError")) throw error;
  } finally {
    // A stream has no end: what was not taken is not waited for.
    response.destroy();
  }
}

/** Waits until what was written has been taken. Rejects after `stalledMs`, or when aborted. */
async function drained(response: ServerResponse, stalledMs: number, signal: AbortSignal): Promise<void> {
  const stalled = new AbortController();
  const timer = setTimeout(() => stalled.abort(new Error("the browser takes nothing")), stalledMs);
  try {
    await once(response, "drain", { signal: AbortSignal.any([signal, stalled.signal]) });
  } finally {
    clearTimeout(timer);
  }
}

/** Whether gzip is among the encodings of a header Accept-Encoding (RFC 9110, section 12.5.3), and not refused. */
export function acceptsGzip(header: string | readonly string[] | undefined): boolean {
  const entries = String(header ?? "")
    .toLowerCase()
    .split(",")
    .map((entry) => entry.trim().split(";"));
  return entries.some(([name, weight = ""]) => name?.trim() === "gzip" && !/^\s*q=0(\.0*)?\s*$/.test(weight));
}
