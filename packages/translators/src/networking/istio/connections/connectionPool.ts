import { type ConnectionPolicy, type ConnectionPoolSettings, canonicalDuration, type TcpKeepalive } from "@isthmus/api";
import { durationFindings } from "../durations.ts";
import type { ConnectionCheck, ConnectionRule } from "./connectionRule.ts";

const PATH = "spec.policy.connectionPoolSettings";

/** `connectionPoolSettings`: how many connections and requests go to the destination at one time. Istio's own fields. */
export const connectionPool: ConnectionRule = ({ connectionPoolSettings: wanted }) =>
  wanted === undefined ? {} : { connectionPool: istioPool(wanted) };

export const connectionPoolCheck: ConnectionCheck = ({ connectionPoolSettings: wanted }) => [
  ...durationFindings(`${PATH}.tcp.connectTimeout`, wanted?.tcp?.connectTimeout),
  ...durationFindings(`${PATH}.tcp.maxConnectionDuration`, wanted?.tcp?.maxConnectionDuration),
  ...durationFindings(`${PATH}.tcp.tcpKeepalive.time`, wanted?.tcp?.tcpKeepalive?.time),
  ...durationFindings(`${PATH}.tcp.tcpKeepalive.interval`, wanted?.tcp?.tcpKeepalive?.interval),
  ...durationFindings(`${PATH}.http.idleTimeout`, wanted?.http?.idleTimeout),
];

/** The same with the keepalive of a federation, unless a policy set one. */
export function withKeepalive(policy: ConnectionPolicy, keepalive: TcpKeepalive | undefined): ConnectionPolicy {
  if (keepalive === undefined || policy.connectionPool?.tcp?.tcpKeepalive !== undefined) return policy;
  const { connectionPool: pool } = policy;
  return { ...policy, connectionPool: { ...pool, tcp: { ...pool?.tcp, tcpKeepalive: istioKeepalive(keepalive) } } };
}

type Pool = NonNullable<ConnectionPolicy["connectionPool"]>;
type TcpPool = NonNullable<Pool["tcp"]>;

function istioPool({ tcp, http }: ConnectionPoolSettings): Pool {
  return { ...(tcp === undefined ? {} : { tcp: istioTcp(tcp) }), ...(http === undefined ? {} : { http: istioHttp(http) }) };
}

function istioTcp(tcp: NonNullable<ConnectionPoolSettings["tcp"]>): TcpPool {
  const { maxConnections, connectTimeout, tcpKeepalive, maxConnectionDuration, idleTimeout } = tcp;
  return {
    ...(maxConnections === undefined ? {} : { maxConnections }),
    ...(connectTimeout === undefined ? {} : { connectTimeout: canonicalDuration(connectTimeout) }),
    ...(tcpKeepalive === undefined ? {} : { tcpKeepalive: istioKeepalive(tcpKeepalive) }),
    ...(maxConnectionDuration === undefined ? {} : { maxConnectionDuration: canonicalDuration(maxConnectionDuration) }),
    ...(idleTimeout === undefined ? {} : { idleTimeout: canonicalDuration(idleTimeout) }),
  };
}

function istioHttp(http: NonNullable<ConnectionPoolSettings["http"]>): NonNullable<Pool["http"]> {
  const { http1MaxPendingRequests, http2MaxRequests, maxRequestsPerConnection, maxRetries } = http;
  const { idleTimeout, h2UpgradePolicy, useClientProtocol, maxConcurrentStreams } = http;
  return {
    ...(http1MaxPendingRequests === undefined ? {} : { http1MaxPendingRequests }),
    ...(http2MaxRequests === undefined ? {} : { http2MaxRequests }),
    ...(maxRequestsPerConnection === undefined ? {} : { maxRequestsPerConnection }),
    ...(maxRetries === undefined ? {} : { maxRetries }),
    ...(idleTimeout === undefined ? {} : { idleTimeout: canonicalDuration(idleTimeout) }),
    ...(h2UpgradePolicy === undefined ? {} : { h2UpgradePolicy }),
    ...(useClientProtocol === undefined ? {} : { useClientProtocol }),
    ...(maxConcurrentStreams === undefined ? {} : { maxConcurrentStreams }),
  };
}

function istioKeepalive({ probes, time, interval }: TcpKeepalive): NonNullable<TcpPool["tcpKeepalive"]> {
  return {
    ...(probes === undefined ? {} : { probes }),
    ...(time === undefined ? {} : { time: canonicalDuration(time) }),
    ...(interval === undefined ? {} : { interval: canonicalDuration(interval) }),
  };
}
