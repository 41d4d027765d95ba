import { Type } from "@sinclair/typebox";
import type { Value } from "../shared/defineKind.ts";
import { duration } from "../shared/duration.ts";
import { int32, oneOfWords, uint32, userFields } from "../shared/schema.ts";

/** How long idle TCP connections are kept and probed. */
export const tcpKeepalive = userFields(
  {
    probes: uint32({ description: "Number of unanswered probes after which a connection is considered dead." }),
    time: duration({ description: "Idle time of a connection before the first probe." }),
    interval: duration({ description: "Time between probes." }),
  },
  { description: "TCP keepalive settings of connections." },
);

/** Istio's own connection pool settings. Source: istio.io DestinationRule, ConnectionPoolSettings. */
export const connectionPoolSettingsSchema = userFields(
  {
    tcp: userFields(
      {
        maxConnections: int32({ minimum: 0, description: "Maximum number of HTTP/1 and TCP connections to the destination." }),
        connectTimeout: duration({ description: "TCP connection timeout, at least 1ms." }),
        tcpKeepalive,
        maxConnectionDuration: duration({ description: "Maximum lifetime of a connection, at least 1ms." }),
        idleTimeout: duration({ description: "Idle timeout of TCP connections." }),
      },
      { description: "Settings of HTTP and TCP connections." },
    ),
    http: userFields(
      {
        http1MaxPendingRequests: int32({ minimum: 0, description: "Maximum number of requests that wait for a connection." }),
        http2MaxRequests: int32({ minimum: 0, description: "Maximum number of concurrent requests to the destination." }),
        maxRequestsPerConnection: int32({
          minimum: 0,
          description: "Maximum number of requests per connection. 1 disables keep-alive, 0 is no limit.",
        }),
        maxRetries: int32({ minimum: 0, description: "Maximum number of concurrent retries to the destination." }),
        idleTimeout: duration({ description: "Idle timeout of connections without active requests, at least 1ms." }),
        h2UpgradePolicy: oneOfWords(["DEFAULT", "DO_NOT_UPGRADE", "UPGRADE"], {
          description: "Whether HTTP/1.1 connections are upgraded to HTTP/2.",
        }),
        useClientProtocol: Type.Boolean({ description: "Whether the protocol of the client is used towards the destination." }),
        maxConcurrentStreams: int32({ minimum: 0, description: "Maximum number of concurrent streams on an HTTP/2 connection." }),
      },
      { description: "Settings of HTTP connections." },
    ),
  },
  { description: "Limits of connections and requests to the destination." },
);

export type ConnectionPoolSettings = Value<typeof connectionPoolSettingsSchema>;
export type TcpKeepalive = Value<typeof tcpKeepalive>;
