import { Type } from "@sinclair/typebox";
import type { Value } from "../shared/defineKind.ts";
import { duration } from "../shared/duration.ts";
import { int32, oneOfWords, uint32, userFields } from "../shared/schema.ts";

/** How long idle TCP connections are kept and probed. */
export const tcpKeepalive = userFields(
  {
    probes: uint32({ description: "Unanswered probes after which a connection counts as dead." }),
    time: duration({ description: "How long a connection is idle before it is probed." }),
    interval: duration({ description: "Time between probes." }),
  },
  { description: "TCP keepalive of connections." },
);

/** Istio's own connection pool settings. Source: istio.io DestinationRule, ConnectionPoolSettings. */
export const connectionPoolSettings = userFields(
  {
    tcp: userFields(
      {
        maxConnections: int32({ minimum: 0, description: "Most HTTP/1 and TCP connections to the destination." }),
        connectTimeout: duration({ description: "Time within which a TCP connection must be made, at least 1ms." }),
        tcpKeepalive,
        maxConnectionDuration: duration({ description: "Longest life of a connection, at least 1ms." }),
        idleTimeout: duration({ description: "Time after which an idle TCP connection is closed." }),
      },
      { description: "Settings of HTTP and TCP connections." },
    ),
    http: userFields(
      {
        http1MaxPendingRequests: int32({ minimum: 0, description: "Most requests that wait for a connection." }),
        http2MaxRequests: int32({ minimum: 0, description: "Most requests to the destination at one time." }),
        maxRequestsPerConnection: int32({
          minimum: 0,
          description: "Most requests per connection; 1 turns keep-alive off, 0 is no limit.",
        }),
        maxRetries: int32({ minimum: 0, description: "Most retries to the destination at one time." }),
        idleTimeout: duration({ description: "Time without a request after which a connection is closed, at least 1ms." }),
        h2UpgradePolicy: oneOfWords(["DEFAULT", "DO_NOT_UPGRADE", "UPGRADE"], {
          description: "Whether HTTP/1.1 connections become HTTP/2.",
        }),
        useClientProtocol: Type.Boolean({ description: "Whether the client's protocol is kept towards the destination." }),
        maxConcurrentStreams: int32({ minimum: 0, description: "Most streams at one time on an HTTP/2 connection." }),
      },
      { description: "Settings of HTTP connections." },
    ),
  },
  { description: "How many connections and requests go to the destination at one time, and for how long." },
);

export type ConnectionPoolSettings = Value<typeof connectionPoolSettings>;
export type TcpKeepalive = Value<typeof tcpKeepalive>;
