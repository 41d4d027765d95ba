import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { MAX_CALL_BYTES } from "./connectionGuard.ts";
import type { StreamLimiter } from "./http2Server.ts";
import { connectMethod } from "./serviceDefinition.ts";

interface CallLimits {
  readonly callMs: number;
  /** Whether it is known who is at the other end of the connection. */
  readonly isKnown: () => boolean;
}

/**
 * Ends a call that sends too much or takes longer than `callMs`, in milliseconds: any but the relay's stream of who is known, for which the library's
 * one limit is made.
 */
export function limitRelayCall(callMs: number): StreamLimiter {
  return (stream, headers, isKnown) => limitCall(stream, headers, { callMs, isKnown });
}

function limitCall(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, { callMs, isKnown }: CallLimits): void {
  const encoding = headers["grpc-encoding"];
  // A few bytes could become megabytes; nobody of ours compresses this way.
  if (encoding !== undefined && encoding !== "identity") {
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    return;
  }
  const isStream = headers[":path"] === connectMethod.path;
  let bytes = 0;
  const count = (data: Buffer) => {
    if (isStream && isKnown()) {
      stream.off("data", count);
      return;
    }
    bytes += data.length;
    if (bytes > MAX_CALL_BYTES && !stream.closed) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  stream.on("data", count);
  if (isStream) return;
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), callMs);
  stream.once("close", () => clearTimeout(timer));
}
