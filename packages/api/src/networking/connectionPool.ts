import { Type } from "@sinclair/typebox";
import type { Value } from "../shared/defineKind.ts";
import { duration } from "../shared/duration.ts";
import { int32, oneOfWords, uint32, userFields } from "../shared/schema.ts";

/** How long idle TCP connections are kept and probed. */
export const tcpKeepalive = userFields(
  {
    probes: uint32({
      description: "Number of unanswered probes after which a connection is considered dead. Default: that of the operating system.",
    }),
    time: duration({ description: "Idle time of a connection before the first probe. Default: that of the operating system." }),
    interval: duration({ description: "Time between probes. Default: that of the operating system." }),
  },
  { description: "TCP keepalive settings of connections. Default: no keepalive." },
);

/** Istio's own connection pool settings. Source: istio.io DestinationRule, ConnectionPoolSettings. */
export const connectionPoolSettingsSchema = userFields(
  {
    tcp: userFields(
      {
        maxConnections: int32({
          minimum: 0,
          description: "Maximum number of HTTP/1 and TCP connections to the destination. Default: no limit.",
        }),
        connectTimeout: duration({ description: "TCP connection timeout, at least 1ms. Default: that of Istio, 10 s." }),
        tcpKeepalive,
        maxConnectionDuration: duration({ description: "Maximum lifetime of a connection, at least 1ms. Default: no limit." }),
        idleTimeout: duration({ description: "Idle timeout of TCP connections. Default: that of Istio, 1 h." }),
      },
      { description: "Settings of HTTP and TCP connections." },
    ),
    http: userFields(
      {
        http1MaxPendingRequests: int32({
          minimum: 0,
          description: "Maximum number of requests that wait for a connection. Default: no limit.",
        }),
        http2MaxRequests: int32({
          minimum: 0,
          description: "Maximum number of concurrent requests to the destination. Default: no limit.",
        }),
        maxRequestsPerConnection: int32({
          minimum: 0,
          description: "Maximum number of requests per connection. 1 disables keep-alive, 0 is no limit. Default: no limit.",
        }),
        maxRetries: int32({ minimum: 0, description: "Maximum number of concurrent retries to the destination. Default: no limit." }),
        idleTimeout: duration({
          description: "Idle timeout of connections without active requests, at least 1ms. Default: that of Istio, 1 h.",
        }),
        h2UpgradePolicy: oneOfWords(["DEFAULT", "DO_NOT_UPGRADE", "UPGRADE"], {
          description: "Whether HTTP/1.1 connections are upgraded to HTTP/2. DEFAULT, the default: as the mesh configuration says.",
        }),
        useClientProtocol: Type.Boolean({
          description: "Whether the protocol of the client is used towards the destination. Default: false.",
        }),
        maxConcurrentStreams: int32({
          minimum: 0,
          description: "Maximum number of concurrent streams on an HTTP/2 connection. Default: no limit.",
        }),
      },
      { description: "Settings of HTTP connections." },
    ),
  },
  { description: "Limits of connections and requests to the destination." },
);

export type ConnectionPoolSettings = Value<typeof connectionPoolSettingsSchema>;
export type TcpKeepalive = Value<typeof tcpKeepalive>;
