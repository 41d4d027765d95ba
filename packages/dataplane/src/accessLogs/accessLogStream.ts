import type { ServerReadableStream } from "@grpc/grpc-js";
import { keptText } from "@isthmus/core";
import { type LoggingProxy, proxyOf } from "../loggingProxy.ts";
import { fittedEntry, type PodsAt } from "./accessLog.ts";
import { type AccessLogFrame, accessLogFrame } from "./accessLogFrame.ts";
import type { StoredEntry } from "./entryStore.ts";

/** What a stream hands over, and what it asks. */
export interface StreamParts {
  /** Entries of one message that are kept at most, the newest. */
  readonly entriesPerProxy: number;
  readonly podsAt: PodsAt;
  /** Called when it says for the first time which proxy it is. */
  readonly introduced: () => void;
  readonly keep: (entry: StoredEntry) => void;
  readonly dropped: (reason: "Ring" | "Size", entries: number) => void;
  /** Milliseconds since some moment. */
  readonly now: () => number;
}

/** Why a stream is closed by us: its client alone has done something wrong, and the others go on. */
export class StreamRefused extends Error {
  override readonly name = "StreamRefused";
}

/** Takes the messages of one stream from `address`. Throws StreamRefused for one that is no access log, or that nobody has introduced. */
export function accessLogStream(address: string, parts: StreamParts): (message: Uint8Array) => void {
  let identity: { readonly proxy: LoggingProxy; readonly logName: string } | undefined;
  let isVerified = false;
  let checkedAt = Number.NEGATIVE_INFINITY;

  /** A pod may be known only after its proxy has connected, and an address may pass to another pod: so it is looked at again now and then. */
  function verify({ podName, namespace }: LoggingProxy): void {
    const now = parts.now();
    if (now - checkedAt < RECHECK_MS) return;
    checkedAt = now;
    isVerified = parts.podsAt(address).some((pod) => pod.name === podName && pod.namespace === namespace);
  }

  return (message) => {
    const { identifier, protocol, entries, skipped } = frameOf(message, parts.entriesPerProxy);
    if (identifier !== undefined) {
      const proxy = proxyOf(identifier.node);
      if (proxy === undefined) throw new StreamRefused("the identifier names no pod: its node has neither Istio's metadata nor Istio's id");
      if (identity === undefined) parts.introduced();
      identity = { proxy, logName: keptText(identifier.logName, LONGEST_LOG_NAME) };
      checkedAt = Number.NEGATIVE_INFINITY;
    }
    if (identity === undefined) throw new StreamRefused("the first message has no identifier");
    verify(identity.proxy);
    if (skipped > 0) parts.dropped("Ring", skipped);
    for (const { bytes, status } of entries) {
      const fitted = fittedOf(bytes, protocol);
      if (fitted === undefined) parts.dropped("Size", 1);
      else parts.keep({ ...identity, protocol, ...fitted, status, verified: isVerified });
    }
  };
}

function frameOf(message: Uint8Array, most: number): AccessLogFrame {
  try {
    return accessLogFrame(message, most);
  } catch {
    throw new StreamRefused("the message is no StreamAccessLogsMessage");
  }
}

function fittedOf(bytes: Uint8Array, protocol: StoredEntry["protocol"]): ReturnType<typeof fittedEntry> {
  try {
    return fittedEntry(bytes, protocol);
  } catch {
    throw new StreamRefused("an entry is malformed");
  }
}

/** The address of a peer without its port, and IPv4 as such: `10.0.0.7:41230`, `::ffff:10.0.0.7:41230`. */
export function podAddressOf(peer: string): string {
  return peer
    .slice(0, peer.lastIndexOf(":"))
    .replace(/^\[|\]$/g, "")
    .replace(/^::ffff:(?=\d+\.)/, "");
}

/** A call as the gRPC library hands it over, its messages not decoded. */
export type AccessLogCall = ServerReadableStream<Uint8Array, Uint8Array>;

const RECHECK_MS = 5_000;
const LONGEST_LOG_NAME = 253;
