import type { ConnectRequest, ConnectResponse } from "../gen/relay/v1/relay_pb.ts";
import type { AgentInfo } from "./link.ts";
import type { RelayErrorCode } from "./relayError.ts";

/** What the links need of a transport: streams of messages, in order. */

/** One end of an open stream. */
export interface Stream<Out> {
  /** Queues a message. False: hold back what can wait until `drained`. Does nothing after the stream's end. */
  send(message: Out): boolean;
  /** Ends the stream; the other end hears why, where the transport can say it. The own handler is not called any more. */
  end(end: StreamEnd): void;
}

/** How and why a stream ended. */
export interface StreamEnd {
  readonly code: RelayErrorCode;
  readonly reason: string;
}

/** What an end does with what happens on its stream. Never called from inside a call of the stream's methods. */
export interface StreamHandler<In> {
  received(message: In): void;
  drained(): void;
  /** The other end, or the network, ended the stream. Called once, as the last. */
  ended(end: StreamEnd): void;
}

/** The server's view of who opened a stream: from the transport's security, never from a message. */
export interface Peer {
  readonly clusterName: string;
  /** The UID of that cluster, where its certificate or its call's admission says it: the hello must not say another. */
  readonly clusterUid?: string;
  /** For logs. */
  readonly address: string;
  readonly authentication: "certificate" | "token" | "none";
  /** When the certificate expires, in milliseconds since 1970: the stream ends then. */
  readonly expiresAt?: number;
  /** When the certificate began to count, in milliseconds since 1970. */
  readonly issuedAt?: number;
  /** Names the set of roots that the agent trusts. */
  readonly trustedRoots?: string;
}

/** Takes a stream that an agent has opened and that has been authenticated. */
export type Acceptor = (peer: Peer, stream: Stream<ConnectResponse>) => StreamHandler<ConnectRequest>;

export interface AgentStreamHandler extends StreamHandler<ConnectResponse> {
  /** The agent should open another stream now, for instance because it has a new certificate. */
  replace(reason: string): void;
}

/** Opens streams to the server. */
export interface Connector {
  /**
   * Opens a stream, after having registered where that is needed; `progress` hears what is being done. Rejects with
   * RelayError. Handlers of one connector are in use one after the other.
   */
  connect(handler: AgentStreamHandler, progress: SyncProgress, signal: AbortSignal): Promise<Stream<ConnectRequest>>;
}

export type SyncProgress = (state: "registering" | "connecting", detail: string) => void;

/** What an agent's connection says of it, beside what it says itself. */
export function presentedBy({ authentication, issuedAt, expiresAt, trustedRoots }: Peer): Partial<AgentInfo> {
  return {
    authentication,
    ...(issuedAt === undefined || expiresAt === undefined ? {} : { certificate: { notBefore: issuedAt, notAfter: expiresAt } }),
    ...(trustedRoots === undefined ? {} : { trustedRoots }),
  };
}
