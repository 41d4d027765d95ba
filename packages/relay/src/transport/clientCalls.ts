import type { Client, ClientDuplexStream, Metadata, MethodDefinition, StatusObject } from "@grpc/grpc-js";
import type { ConnectRequest, ConnectResponse } from "../gen/relay/v1/relay_pb.ts";
import type { Stream, StreamHandler } from "../session/connection.ts";
import { RelayError } from "../session/relayError.ts";
import { agentPacking } from "./packing.ts";
import { connectMethod } from "./serviceDefinition.ts";
import { endOf, relayErrorOf } from "./status.ts";

// A registration is a signature and a write to an API server: 20 s are ample.
const CALL_TIMEOUT_MS = 20_000;

/** How long the end of a stream may take before its connection is cut. */
const ENDING_MS = 1_000;

/** One call on a channel of its own, which is closed after it. Rejects with RelayError. `server` names the server for people. */
export function callUnary<In, Out>(
  client: Client,
  { method, request, server }: { readonly method: MethodDefinition<In, Out>; readonly request: In; readonly server: string },
  signal: AbortSignal,
): Promise<Out> {
  const { path, requestSerialize, responseDeserialize } = method;
  const called = new Promise<Out>((resolve, reject) => {
    signal.throwIfAborted();
    const call = client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      { deadline: Date.now() + CALL_TIMEOUT_MS },
      (error, response) => {
        signal.removeEventListener("abort", abort);
        if (error !== null) reject(signal.aborted ? signal.reason : relayErrorOf(error, server));
        else if (response === undefined) reject(relayErrorOf(new Error("it returned an empty response"), server));
        else resolve(response);
      },
    );
    const abort = () => call.cancel();
    signal.addEventListener("abort", abort, { once: true });
  });
  return called.finally(() => client.close());
}

export interface StreamOptions {
  readonly handler: StreamHandler<ConnectResponse>;
  readonly metadata: Metadata;
  /** Hears what the server says before its first message. */
  readonly onHello?: (metadata: Metadata) => void;
  /** Names the server for people. */
  readonly server: string;
  /** For how long a connection may be made. */
  readonly patience: ConnectPatience;
}

/**
 * How long an agent waits for a connection, TLS included: addresses that nobody answers any more, such as that of a server's pod that has just ended, swallow what
 * is sent to them, and the library would wait for 20 s. After each time in vain it is twice as long, so that a server that is busy with thousands of
 * agents gets to all of them.
 */
export interface ConnectPatience {
  readonly ms: number;
  connected(): void;
  /** Nothing came of it in that time. */
  missed(): void;
}

const FIRST_PATIENCE_MS = 5_000;
const MOST_PATIENCE_MS = 20_000;

/** The patience of one agent. */
export function connectPatience(): ConnectPatience {
  let ms = FIRST_PATIENCE_MS;
  return {
    get ms() {
      return ms;
    },
    connected() {
      ms = FIRST_PATIENCE_MS;
    },
    missed() {
      ms = Math.min(2 * ms, MOST_PATIENCE_MS);
    },
  };
}

/** The relay's stream, on a channel of its own, which is closed with it. A failure to connect is an end of the stream. */
export function openStream(client: Client, { handler, metadata, onHello, server, patience }: StreamOptions): Stream<ConnectRequest> {
  const { path, requestSerialize, responseDeserialize } = connectMethod;
  const call: ClientDuplexStream<ConnectRequest, ConnectResponse> = client.makeBidiStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    metadata,
  );
  const packing = agentPacking();
  let isEnded = false;
  let cut: NodeJS.Timeout | undefined;

  function end(): void {
    isEnded = true;
    call.end();
    cut = setTimeout(() => call.cancel(), ENDING_MS);
  }

  function received(packed: ConnectResponse): void {
    if (isEnded) return;
    let message: ConnectResponse;
    try {
      message = packing.unpacked(packed);
    } catch (error) {
      if (!(error instanceof RelayError)) throw error;
      end();
      handler.ended({ code: error.code, reason: error.message });
      return;
    }
    handler.received(message);
  }

  const { ms } = patience;
  client.waitForReady(Date.now() + ms, (error) => {
    if (error === undefined || error === null) return patience.connected();
    if (isEnded) return;
    patience.missed();
    isEnded = true;
    call.cancel();
    client.close();
    handler.ended({ code: "Unreachable", reason: `cannot reach ${server}: ${notConnected(ms)}` });
  });
  call.on("metadata", (said: Metadata) => isEnded || onHello?.(said));
  call.on("data", received);
  call.on("drain", () => isEnded || handler.drained());
  // The status tells the same, and tells it also when all is well.
  call.on("error", () => undefined);
  call.on("status", (status: StatusObject) => {
    clearTimeout(cut);
    client.close();
    if (isEnded) return;
    isEnded = true;
    handler.ended(endOf(status, server));
  });

  return {
    send: (message) => !isEnded && call.write(packing.packed(message)),
    end() {
      if (!isEnded) end();
    },
  };
}

function notConnected(ms: number): string {
  return (
    `no connection within ${ms / 1_000} s: nothing answers at that address, or TLS is not established there: check the address, and firewalls and NetworkPolicies on the way; ` +
    "just after a restart of the server it passes by itself"
  );
}
