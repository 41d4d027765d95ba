import type { Metadata, ServerDuplexStream } from "@grpc/grpc-js";
import type { ConnectRequest, ConnectResponse } from "../gen/relay/v1/relay_pb.ts";
import type { Acceptor, Peer, Stream } from "../session/connection.ts";
import { type GrpcStatus, statusOf } from "./status.ts";

export type ConnectCall = ServerDuplexStream<ConnectRequest, ConnectResponse>;

export interface StreamServing {
  /** Rejects for who may not connect. */
  readonly peerOf: (call: ConnectCall) => Promise<Peer>;
  readonly greeting: () => Promise<Metadata>;
  readonly refusal: (error: unknown) => GrpcStatus;
  readonly accept: Acceptor;
}

/** Hands one call over to the link, once it is known who calls. */
export function serveStream(call: ConnectCall, { peerOf, greeting, refusal, accept }: StreamServing): void {
  let isEnded = false;

  /** Ends the call with a status. The library takes it as an error event. */
  function endWith(status: GrpcStatus): void {
    if (isEnded) return;
    isEnded = true;
    call.emit("error", status);
  }

  const stream: Stream<ConnectResponse> = {
    send: (message) => !isEnded && call.write(message),
    end: (end) => endWith(statusOf(end)),
  };

  async function serve(): Promise<void> {
    const peer = await peerOf(call);
    const metadata = await greeting();
    if (call.cancelled || isEnded) return;
    call.sendMetadata(metadata);
    const handler = accept(peer, stream);
    const ended = (reason: string) => {
      if (isEnded) return;
      isEnded = true;
      handler.ended({ code: "Ended", reason });
    };
    call.on("data", (message: ConnectRequest) => isEnded || handler.received(message));
    call.on("drain", () => isEnded || handler.drained());
    call.on("end", () => {
      ended("the agent ended the connection");
      call.end();
    });
    call.on("cancelled", () => ended("the connection was lost"));
    call.on("error", (error) => ended(`the connection failed: ${error.message}`));
  }
  serve().catch((error: unknown) => endWith(refusal(error)));
}
