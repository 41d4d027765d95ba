import { constants, type ServerHttp2Stream } from "node:http2";
import type { StreamLimiter } from "./http2Server.ts";

/** How much may be held of messages of which only a part has come. */
export interface UnfinishedLimits {
  /** Of all streams. */
  readonly bytes: number;
  /** Of the streams of one address. */
  readonly bytesOfAddress: number;
  /** Of one message. */
  readonly message: number;
  /** Milliseconds from the first part of a message that is seen alone to its last. */
  readonly messageMs: number;
}

interface Unfinished {
  readonly stream: ServerHttp2Stream;
  readonly address: string;
  readonly timer: NodeJS.Timeout;
  held: number;
}

/**
 * Bounds what the gRPC library holds of messages that are not complete: it keeps all parts of each, on however many streams. What is above a limit
 * ends the stream whose message is unfinished for longest, of that address or of all: an honest one is complete within milliseconds.
 * Compressed messages are refused: a few bytes could become megabytes. Source: gRPC over HTTP2, "Length-Prefixed-Message".
 */
export function limitUnfinished({ bytes, bytesOfAddress, message, messageMs }: UnfinishedLimits): StreamLimiter {
  /** The oldest first. */
  const unfinished = new Map<ServerHttp2Stream, Unfinished>();
  const heldOf = new Map<string, number>();
  let held = 0;

  function count(one: Unfinished, by: number): void {
    one.held += by;
    held += by;
    const there = (heldOf.get(one.address) ?? 0) + by;
    if (there > 0) heldOf.set(one.address, there);
    else heldOf.delete(one.address);
  }

  function forget(stream: ServerHttp2Stream): void {
    const one = unfinished.get(stream);
    if (one === undefined) return;
    clearTimeout(one.timer);
    unfinished.delete(stream);
    count(one, -one.held);
  }

  function end(stream: ServerHttp2Stream): void {
    forget(stream);
    if (!stream.closed) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  function begun(stream: ServerHttp2Stream, address: string): Unfinished {
    const known = unfinished.get(stream);
    if (known !== undefined) return known;
    const one = { stream, address, timer: setTimeout(() => end(stream), messageMs), held: 0 };
    unfinished.set(stream, one);
    return one;
  }

  function oldest(address?: string): ServerHttp2Stream | undefined {
    for (const one of unfinished.values()) if (address === undefined || one.address === address) return one.stream;
    return undefined;
  }

  function hold(stream: ServerHttp2Stream, address: string, now: number): void {
    const one = begun(stream, address);
    count(one, now - one.held);
    while ((heldOf.get(address) ?? 0) > bytesOfAddress) end(oldest(address) ?? stream);
    while (held > bytes) end(oldest() ?? stream);
  }

  return (stream, headers) => {
    const encoding = headers["grpc-encoding"];
    if (encoding !== undefined && encoding !== "identity") return void stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    const address = stream.session?.socket.remoteAddress ?? "";
    const counter = messageCounter(message);
    stream.on("data", (data: Buffer) => {
      const open = counter(data);
      if (open === undefined) end(stream);
      else if (open === 0) forget(stream);
      else if (!stream.closed) hold(stream, address, open);
    });
    stream.once("close", () => forget(stream));
  };
}

// A flag for compression, and the length.
const PREFIX_BYTES = 5;

/** Follows the messages of a stream: gives how many bytes of an unfinished one have come; undefined: one is larger than it may be. */
function messageCounter(most: number): (data: Buffer) => number | undefined {
  let prefix = 0;
  let length = 0;
  let come = 0;
  return (data) => {
    for (let at = 0; at < data.length; ) {
      if (prefix < PREFIX_BYTES) {
        if (prefix > 0) length = length * 256 + (data[at] ?? 0);
        prefix++;
        at++;
        if (length > most) return undefined;
      } else {
        const part = Math.min(length - come, data.length - at);
        come += part;
        at += part;
      }
      if (prefix === PREFIX_BYTES && come === length) [prefix, length, come] = [0, 0, 0];
    }
    return prefix + come;
  };
}
