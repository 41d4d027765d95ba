import { type ConnectionPolicy, type ConnectionPoolSettings, nanosecondsOf, type TcpKeepalive } from "@isthmus/api";
import { type Finding, invalidFinding } from "../../../findings.ts";
import { durationFindings, istioDuration } from "../durations.ts";
import { defineFeature } from "./feature.ts";

const PATH = "spec.policy.connectionPoolSettings";

/** How many connections and requests go to the destination at one time. Istio's own fields. */
export const connectionPoolSettings = defineFeature({
  field: "connectionPoolSettings",
  writes: "connection",
  sets: { connectionPool: PATH },
  fieldsOf: (wanted) => {
    const connectionPool = istioPool(wanted);
    return Object.keys(connectionPool).length === 0 ? {} : { connectionPool };
  },
  check: ({ tcp, http }) => [
    ...durationFindings(`${PATH}.tcp.connectTimeout`, tcp?.connectTimeout),
    ...durationFindings(`${PATH}.tcp.maxConnectionDuration`, tcp?.maxConnectionDuration),
    ...durationFindings(`${PATH}.tcp.tcpKeepalive.time`, tcp?.tcpKeepalive?.time),
    ...durationFindings(`${PATH}.tcp.tcpKeepalive.interval`, tcp?.tcpKeepalive?.interval),
    ...idleFindings(tcp?.idleTimeout),
    ...durationFindings(`${PATH}.http.idleTimeout`, http?.idleTimeout),
    ...protocolFindings(http),
  ],
});

/** 0 turns the timeout of idle TCP connections off. */
function idleFindings(idleTimeout: string | undefined): readonly Finding[] {
  return isZero(idleTimeout) ? [] : durationFindings(`${PATH}.tcp.idleTimeout`, idleTimeout);
}

function isZero(text: string | undefined): boolean {
  return text !== undefined && nanosecondsOf(text) === 0;
}

/** Istio refuses both. Source: istio.io/istio pkg/config/validation, validateConnectionPool. */
function protocolFindings(http: ConnectionPoolSettings["http"]): readonly Finding[] {
  if (http?.h2UpgradePolicy !== "UPGRADE" || http.useClientProtocol !== true) return [];
  return [invalidFinding("ValueInvalid", `${PATH}.http: h2UpgradePolicy UPGRADE and useClientProtocol are mutually exclusive: remove one`)];
}

/** The same with the keepalive of a federation, unless a policy set one. */
export function withKeepalive(policy: ConnectionPolicy, keepalive: TcpKeepalive | undefined): ConnectionPolicy {
  if (keepalive === undefined || policy.connectionPool?.tcp?.tcpKeepalive !== undefined) return policy;
  const { connectionPool: pool } = policy;
  return { ...policy, connectionPool: { ...pool, tcp: { ...pool?.tcp, tcpKeepalive: istioKeepalive(keepalive) } } };
}

type Pool = NonNullable<ConnectionPolicy["connectionPool"]>;
type TcpPool = NonNullable<Pool["tcp"]>;

/** What says nothing is left out: a rule with it would put rules of users out of force. */
function istioPool({ tcp = {}, http = {} }: ConnectionPoolSettings): Pool {
  const [ofTcp, ofHttp] = [istioTcp(tcp), istioHttp(http)];
  return { ...(Object.keys(ofTcp).length === 0 ? {} : { tcp: ofTcp }), ...(Object.keys(ofHttp).length === 0 ? {} : { http: ofHttp }) };
}

function istioTcp(tcp: NonNullable<ConnectionPoolSettings["tcp"]>): TcpPool {
  const { maxConnections, tcpKeepalive } = tcp;
  const connectTimeout = istioDuration(tcp.connectTimeout);
  const maxConnectionDuration = istioDuration(tcp.maxConnectionDuration);
  const idleTimeout = isZero(tcp.idleTimeout) ? "0s" : istioDuration(tcp.idleTimeout);
  return {
    ...(maxConnections === undefined ? {} : { maxConnections }),
    ...(connectTimeout === undefined ? {} : { connectTimeout }),
    ...(tcpKeepalive === undefined ? {} : { tcpKeepalive: istioKeepalive(tcpKeepalive) }),
    ...(maxConnectionDuration === undefined ? {} : { maxConnectionDuration }),
    ...(idleTimeout === undefined ? {} : { idleTimeout }),
  };
}

function istioHttp(http: NonNullable<ConnectionPoolSettings["http"]>): NonNullable<Pool["http"]> {
  const { http1MaxPendingRequests, http2MaxRequests, maxRequestsPerConnection, maxRetries } = http;
  const { h2UpgradePolicy, useClientProtocol, maxConcurrentStreams } = http;
  const idleTimeout = istioDuration(http.idleTimeout);
  return {
    ...(http1MaxPendingRequests === undefined ? {} : { http1MaxPendingRequests }),
    ...(http2MaxRequests === undefined ? {} : { http2MaxRequests }),
    ...(maxRequestsPerConnection === undefined ? {} : { maxRequestsPerConnection }),
    ...(maxRetries === undefined ? {} : { maxRetries }),
    ...(idleTimeout === undefined ? {} : { idleTimeout }),
    // What these say holds anyway.
    ...(h2UpgradePolicy === undefined || h2UpgradePolicy === "DEFAULT" ? {} : { h2UpgradePolicy }),
    ...(useClientProtocol === true ? { useClientProtocol } : {}),
    ...(maxConcurrentStreams === undefined ? {} : { maxConcurrentStreams }),
  };
}

function istioKeepalive(keepalive: TcpKeepalive): NonNullable<TcpPool["tcpKeepalive"]> {
  const { probes } = keepalive;
  const [time, interval] = [istioDuration(keepalive.time), istioDuration(keepalive.interval)];
  return {
    ...(probes === undefined ? {} : { probes }),
    ...(time === undefined ? {} : { time }),
    ...(interval === undefined ? {} : { interval }),
  };
}
