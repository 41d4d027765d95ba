import type { Metadata, ServerDuplexStream } from "@grpc/grpc-js";
import type { ConnectRequest, ConnectResponse } from "../gen/relay/v1/relay_pb.ts";
import type { Acceptor, Peer, Stream, StreamHandler } from "../session/connection.ts";
import { serverPacking } from "./packing.ts";
import { type GrpcStatus, statusOf } from "./status.ts";
import type { Turns } from "./turns.ts";

export type ConnectCall = ServerDuplexStream<ConnectRequest, ConnectResponse>;

export interface StreamServing {
  /** Rejects for who may not connect. */
  readonly peerOf: (call: ConnectCall) => Promise<Peer>;
  readonly greeting: () => Promise<Metadata>;
  readonly refusal: (error: unknown) => GrpcStatus;
  readonly accept: Acceptor;
  /** Shared by all calls of a server. */
  readonly turns: Turns;
}

/**
 * How many messages of ours wait to reach the socket before the link is asked to hold back: one being written and one behind
 * it keep a line busy, and the gRPC library itself would take sixteen of up to 1 MiB for each agent.
 */
const MAX_WRITING = 2;

/**
 * An agent that does not read what it is sent is not listened to either: each of its messages would add an answer. An agent
 * always reads, and has no more than half as many messages unanswered, so that both ends never wait for each other.
 */
const MAX_UNREAD = 64;

/** Hands one call over to the link, once it is known who calls. */
export function serveStream(call: ConnectCall, { peerOf, greeting, refusal, accept, turns }: StreamServing): void {
  const packing = serverPacking();
  let isEnded = false;
  let writing = 0;
  /** Messages of the agent that wait for their turn. */
  let waiting = 0;
  /** Whether the link's turn is to come, in which it hears of room. */
  let isDraining = false;
  let handler: StreamHandler<ConnectRequest> | undefined;

  /** Ends the call with a status. The library takes it as an error event. */
  function endWith(status: GrpcStatus): void {
    if (isEnded) return;
    isEnded = true;
    call.emit("error", status);
  }

  /** Listens to the agent, or not: what it says meanwhile waits at its end. */
  function listen(): void {
    const isHeldUp = writing >= MAX_UNREAD || waiting > 0;
    if (isHeldUp === call.isPaused()) return;
    if (isHeldUp) call.pause();
    else call.resume();
  }

  function written(): void {
    writing--;
    listen();
    if (writing !== MAX_WRITING - 1 || isDraining) return;
    isDraining = true;
    turns.take(() => {
      isDraining = false;
      if (!isEnded) handler?.drained();
    });
  }

  const stream: Stream<ConnectResponse> = {
    send(message) {
      if (isEnded) return false;
      writing++;
      call.write(packing.packed(message), written);
      listen();
      return writing < MAX_WRITING;
    },
    end: (end) => endWith(statusOf(end)),
  };

  async function serve(): Promise<void> {
    const peer = await peerOf(call);
    const metadata = await greeting();
    if (call.cancelled || isEnded) return;
    call.sendMetadata(metadata);
    const accepted = accept(peer, stream);
    handler = accepted;
    const ended = (reason: string) => {
      if (isEnded) return;
      isEnded = true;
      accepted.ended({ code: "Ended", reason });
    };
    const received = (packed: ConnectRequest) => {
      if (isEnded) return;
      let message: ConnectRequest;
      try {
        message = packing.unpacked(packed);
      } catch (error) {
        const status = refusal(error);
        ended(status.details);
        call.emit("error", status);
        return;
      }
      accepted.received(message);
    };
    call.on("data", (packed: ConnectRequest) => {
      waiting++;
      turns.take(() => {
        waiting--;
        received(packed);
        listen();
      });
      listen();
    });
    // It comes while the last message still waits.
    call.on("end", () =>
      turns.take(() => {
        ended("the agent ended the connection");
        call.end();
      }),
    );
    call.on("cancelled", () => ended("the connection was lost"));
    call.on("error", (error) => ended(`the connection failed: ${error.message}`));
  }
  serve().catch((error: unknown) => endWith(refusal(error)));
}
